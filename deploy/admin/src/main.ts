import { listDeadLetters } from '@bubbles/shared/bus/list-dead-letters.ts';
import { redrive } from '@bubbles/shared/bus/redrive.ts';
import { systemClock } from '@bubbles/shared/clock.ts';
import { ConfigError, readConfig } from '@bubbles/shared/config.ts';
import { baseUrl, connectionUrl, signingKey } from '@bubbles/shared/config-values.ts';
import { serviceTokens } from '@bubbles/shared/http/service-token.ts';
import { z } from 'zod';
import { type AdminCall, type DeadLetterCall, operatorCall, UsageError } from './commands.ts';

const IdentityAccess = z.object({ IDENTITY_URL: baseUrl(), OPERATOR_KEY: signingKey() });
const BrokerAccess = z.object({ AMQP_URL: connectionUrl('amqp', 'amqps') });
const DEADLINE_MS = 10_000;
/** So many fit a terminal; more only when asked for. */
const LISTED = 20;

const show = (answer: unknown) => process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);

const askIdentity = async ({ method, path, body }: AdminCall): Promise<boolean> => {
  const { IDENTITY_URL, OPERATOR_KEY } = readConfig(IdentityAccess, process.env);
  const tokens = serviceTokens({ caller: 'operator', key: OPERATOR_KEY, clock: systemClock() });
  const response = await fetch(`${IDENTITY_URL}/internal/v1/admin/${path}`, {
    method,
    headers: {
      authorization: await tokens.authorizationFor('identity-and-oauth'),
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    body: body === null ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  const text = await response.text();
  if (text !== '') show(JSON.parse(text));
  return response.ok;
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

const run = async (): Promise<number> => {
  const call = operatorCall(process.argv.slice(2));
  const done = await ('deadLetters' in call ? askBroker(call) : askIdentity(call));
  return done ? 0 : 1;
};

const explain = (error: unknown): string => {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message;
  return Error.isError(error) ? `the answer could not be had: ${error.message}` : String(error);
};

process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  return 2;
});
