import { setTimeout as pause } from 'node:timers/promises';
import type { SandboxUser } from '../../../deploy/sandbox/src/control/bodies.ts';
import type { Answer } from '../../conformance/support/client.ts';
import { comeBack, exchange, type RegisteredApp, refresh, type Tokens } from '../../conformance/support/oauth-scene.ts';

/** An app that goes on refreshing for one user, whatever happens to the server. */
export interface TokenFamily {
  readonly app: RegisteredApp;
  /** What it holds: the answer to its last exchange or refresh; null when that answer was lost with a process. */
  held(): Tokens | null;
  /** Refresh tokens that were exchanged for others. */
  readonly spent: readonly string[];
  /** How often an answer was lost and the user had to be asked again. */
  readonly lost: number;
  readonly refreshed: number;
  /** What must not be: what is dead was honoured, or what is live was refused. */
  readonly faults: readonly string[];
  run(signal: AbortSignal): Promise<void>;
}

/** Null when nobody answered. */
const unlessCutOff = async (request: Promise<Answer>): Promise<Answer | null> => {
  try {
    const answer = await request;
    return answer.status === 500 ? null : answer;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
};

interface Exchanged {
  readonly answer: Answer;
  /** It was sent before, and nobody knows what came of that. */
  readonly sentBefore: boolean;
}

/** Again until somebody answers. */
const untilAnswered = async (send: () => Promise<Answer>): Promise<Exchanged> => {
  for (let sentBefore = false; ; ) {
    const answer = await unlessCutOff(send());
    if (answer !== null && answer.status !== 429) return { answer, sentBefore };
    sentBefore ||= answer === null;
    await pause(Number(answer?.headers.get('retry-after') ?? 0) * 1000);
  }
};

/** Below the rate that a client may ask at. */
const BETWEEN_REFRESHES_MS = 300;

interface FamilyOptions {
  /** Taken in turn. */
  readonly gateways: readonly string[];
  readonly person: Pick<SandboxUser, 'session_token'>;
  readonly app: RegisteredApp;
}

export const tokenFamily = ({ gateways, person, app }: FamilyOptions): TokenFamily => {
  const spent: string[] = [];
  const faults: string[] = [];
  let held: Tokens | null = null;
  let turn = 0;
  let lost = 0;
  let refreshed = 0;

  const site = () => {
    turn += 1;
    return { baseUrl: gateways[turn % gateways.length] ?? '' };
  };

  /** What it holds afterwards; null when it has to ask the user again. */
  const judged = (what: string, { answer, sentBefore }: Exchanged): Tokens | null => {
    if (answer.status === 200) return answer.json;
    const isRefusal = answer.status === 400 && answer.json?.error === 'invalid_grant';
    if (!isRefusal || !sentBefore) faults.push(`${what}: ${answer.status} ${answer.text}`);
    lost += 1;
    return null;
  };

  const askUser = async (): Promise<Tokens | null> => {
    const back = await comeBack(site(), person, app).catch(() => null);
    if (back === null) return null;
    return judged('a fresh code', await untilAnswered(() => exchange(site(), back)));
  };

  const refreshOnce = async ({ refresh_token: token }: Tokens): Promise<Tokens | null> => {
    const next = judged('a live refresh token', await untilAnswered(() => refresh(site(), app, token)));
    if (next === null) return null;
    refreshed += 1;
    spent.push(token);
    return next;
  };

  return {
    app,
    held: () => held,
    spent,
    faults,
    get lost() {
      return lost;
    },
    get refreshed() {
      return refreshed;
    },
    async run(signal) {
      while (!signal.aborted) {
        held = held === null ? await askUser() : await refreshOnce(held);
        await pause(BETWEEN_REFRESHES_MS);
      }
    },
  };
};
