import { type ServiceTokensOptions, serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { listDeadLetters, redrive } from '@bubbles/bus/operations/dead-letters.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { ConfigError, readConfig } from '@bubbles/kernel/config.ts';
import { baseUrl, connectionUrl, signingKey } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';
import { type AdminCall, type DeadLetterCall, operatorCall, type RebuildCall, UsageError } from './commands.ts';

const IdentityAccess = z.object({ IDENTITY_URL: baseUrl(), OPERATOR_KEY: signingKey() });
const MeetingsAccess = z.object({ MEETINGS_URL: baseUrl(), OPERATOR_KEY: signingKey() });
const BubblesAccess = z.object({ BUBBLES_QUERY_URL: baseUrl(), OPERATOR_KEY: signingKey() });
const RebuiltPage = z.object({ accounts: z.number(), next_after: z.string().nullable() });
const BrokerAccess = z.object({ AMQP_URL: connectionUrl('amqp', 'amqps') });
const DEADLINE_MS = 10_000;
/** How many fit a terminal; more are shown only when asked for. */
const LISTED = 20;

const show = (answer: unknown) => process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);

interface Peer {
  readonly name: string;
  readonly url: string;
  readonly key: ServiceTokensOptions['key'];
}

/** Calls of one service's internal admin API; its answer is null when it has no body. */
const asker = ({ name, url, key }: Peer) => {
  const tokens = serviceTokens({ caller: 'operator', key, clock: systemClock() });
  return async ({ method, path, body }: AdminCall): Promise<{ readonly ok: boolean; readonly answer: unknown }> => {
    const response = await fetch(`${url}/internal/v1/admin/${path}`, {
      method,
      headers: {
        authorization: await tokens.authorizationFor(name),
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      body: body === null ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const text = await response.text();
    return { ok: response.ok, answer: text === '' ? null : JSON.parse(text) };
  };
};

const ask = async (peer: Peer, call: AdminCall): Promise<boolean> => {
  const { ok, answer } = await asker(peer)(call);
  if (answer !== null) show(answer);
  return ok;
};

const askIdentity = (call: AdminCall): Promise<boolean> => {
  const { IDENTITY_URL: url, OPERATOR_KEY: key } = readConfig(IdentityAccess, process.env);
  return ask({ name: 'identity-and-oauth', url, key }, call);
};

const askMeetings = (call: AdminCall): Promise<boolean> => {
  const { MEETINGS_URL: url, OPERATOR_KEY: key } = readConfig(MeetingsAccess, process.env);
  return ask({ name: 'meetings-bot-gateway', url, key }, call);
};

/** A page a call, so that none lasts long; shown as one. */
const rebuild = async ({ rebuild: projection }: RebuildCall): Promise<boolean> => {
  const { BUBBLES_QUERY_URL: url, OPERATOR_KEY: key } = readConfig(BubblesAccess, process.env);
  const askBubbles = asker({ name: 'bubbles-query', url, key });
  let accounts = 0;
  for (let body: object | null = {}; body !== null; ) {
    const { ok, answer } = await askBubbles({ method: 'POST', path: `rebuild-${projection}`, body });
    if (!ok) {
      show(answer);
      return false;
    }
    const page = RebuiltPage.parse(answer);
    accounts += page.accounts;
    body = page.next_after === null ? null : { after: page.next_after };
  }
  show({ accounts });
  return true;
};

/** Said to be done only when nothing had to stay. */
const askBroker = async ({ deadLetters, consumer, limit }: DeadLetterCall): Promise<boolean> => {
  const { AMQP_URL: url } = readConfig(BrokerAccess, process.env);
  if (deadLetters === 'list') {
    show(await listDeadLetters({ url, consumer, limit: limit ?? LISTED }));
    return true;
  }
  const redriven = await redrive({ url, consumer, ...(limit !== null && { limit }) });
  show(redriven);
  return redriven.kept === 0;
};

const exitCode = (done: boolean): number => (done ? 0 : 1);

const run = async (): Promise<number> => {
  const call = operatorCall(process.argv.slice(2));
  if ('deadLetters' in call) return exitCode(await askBroker(call));
  if ('meetings' in call) return exitCode(await askMeetings(call.meetings));
  return exitCode(await ('rebuild' in call ? rebuild(call) : askIdentity(call)));
};

const explain = (error: unknown): string => {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message;
  return Error.isError(error) ? `request failed: ${error.message}` : String(error);
};

process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  return 2;
});
