import { createHash } from 'node:crypto';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { CalendarProvider } from '../../calendar-ports.ts';
import type { CalendarProviderName } from '../../domain/calendar.ts';

export interface ProviderSettings {
  readonly name: CalendarProviderName;
  /** Null: nobody can connect a calendar of this provider; what was connected before can still be revoked. */
  readonly client: { readonly id: string; readonly secret: string } | null;
  readonly consentUrl: string;
  readonly tokenUrl: string;
  /** RFC 7009; null for a provider that has none. */
  readonly revocationUrl: string | null;
  readonly redirectUri: string;
}

/** To read calendars as long as the user lets us. `calendar` is the scope without which nothing can be read. */
const ASKED = {
  google: {
    calendar: 'https://www.googleapis.com/auth/calendar.readonly',
    scope: 'openid https://www.googleapis.com/auth/calendar.readonly',
    // Without `prompt=consent` only the first consent of a user gives a refresh token.
    more: { access_type: 'offline', prompt: 'consent' },
  },
  microsoft: {
    calendar: 'Calendars.Read',
    scope: 'openid offline_access Calendars.Read',
    more: { response_mode: 'query', prompt: 'select_account' },
  },
} as const;

const TIME_LIMIT_MS = 8000;
const MAX_BYTES = 64 * 1024;
const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'content-type': 'application/x-www-form-urlencoded' };

/** RFC 6749, 5.1, with the token of OpenID. */
const Tokens = z.object({ refresh_token: z.string().min(1).optional(), id_token: z.string(), scope: z.string() });
/** RFC 6749, 5.2. */
const Refusal = z.object({ error: z.string() });
const IdToken = z.object({ sub: z.string().min(1), aud: z.string() });

interface Answered {
  readonly status: number;
  /** Null when it is no JSON, or too large to be an answer. */
  readonly json: unknown;
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const readAnswer = async ({ statusCode: status, body }: Awaited<ReturnType<typeof request>>): Promise<Answered> => {
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return { status, json: null };
      chunks.push(chunk);
    }
    return { status, json: jsonIn(Buffer.concat(chunks).toString()) };
  } finally {
    // What was not read is not waited for. A listener keeps the end of an unread body from being an error of the process.
    body.on('error', () => undefined).destroy();
  }
};

/** It came from the provider itself, over its own TLS: OpenID Connect Core, 3.1.3.7, needs no signature then. */
const subjectIn = (idToken: string, clientId: string): string | null => {
  const claims = IdToken.safeParse(jsonIn(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()));
  return claims.success && claims.data.aud === clientId ? claims.data.sub : null;
};

const unavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'The provider of the calendar did not answer.', {
    cause,
    retryAfterSeconds: 60,
  });

/** Providers take few calls: no connection is kept for long. */
export const calendarAgent = (): Agent => new Agent({ allowH2: false, connectTimeout: TIME_LIMIT_MS, keepAliveTimeout: 1000 });

interface Wire {
  readonly agent: Agent;
  readonly log: Log;
}

export const createCalendarProvider = (
  { name, client, redirectUri, ...urls }: ProviderSettings,
  { agent, log }: Wire,
): CalendarProvider => {
  const { scope, more, calendar } = ASKED[name];

  const post = async (url: string, fields: Readonly<Record<string, string>>): Promise<Answered> => {
    const body = new URLSearchParams(fields).toString();
    try {
      return await withTimeout(TIME_LIMIT_MS, async (signal) =>
        readAnswer(await request(url, { method: 'POST', headers: HEADERS, body, dispatcher: agent, signal })),
      );
    } catch (error) {
      throw unavailable(error);
    }
  };
  /** An answer that no provider should give: an operator has to look. */
  const strange = (what: string, { status, json }: Answered): DomainError => {
    log.error('calendar provider answered strangely', { provider: name, what, status, error: Refusal.safeParse(json).data?.error ?? null });
    return unavailable(new Error(`${name}: ${what}, status ${status}`));
  };

  return {
    isConfigured: client !== null,
    consentUrl({ state, verifier }) {
      const url = new URL(urls.consentUrl);
      const challenge = { code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' };
      const asked = { client_id: client?.id ?? '', redirect_uri: redirectUri, response_type: 'code', scope, state, ...challenge, ...more };
      for (const [key, value] of Object.entries(asked)) url.searchParams.set(key, value);
      return url.href;
    },
    async exchange(code, verifier) {
      if (client === null) return 'refused';
      const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
      const answered = await post(urls.tokenUrl, { ...fields, client_id: client.id, client_secret: client.secret });
      if (answered.status === 400 && Refusal.safeParse(answered.json).data?.error === 'invalid_grant') return 'refused';
      const tokens = Tokens.safeParse(answered.json);
      if (answered.status !== 200 || !tokens.success) throw strange('no tokens', answered);
      const subject = subjectIn(tokens.data.id_token, client.id);
      if (subject === null) throw strange('no id token for us', answered);
      const { refresh_token: refreshToken, scope: granted } = tokens.data;
      // Microsoft may name its scopes with the address of the API before them.
      const mayRead = granted.split(' ').some((one) => one === calendar || one.endsWith(`/${calendar}`));
      return refreshToken !== undefined && mayRead ? { refreshToken, subject } : 'incomplete';
    },
    async revoke(token) {
      if (urls.revocationUrl === null) return;
      const answered = await post(urls.revocationUrl, { token, token_type_hint: 'refresh_token' });
      // RFC 7009, 2.2: an unknown token is 200. Google answers 400 `invalid_token` for one that was revoked before.
      const isGone =
        answered.status === 200 || (answered.status === 400 && Refusal.safeParse(answered.json).data?.error === 'invalid_token');
      if (!isGone) throw strange('not revoked', answered);
    },
  };
};
