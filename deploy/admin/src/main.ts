import { systemClock } from '@bubbles/shared/clock.ts';
import { ConfigError, readConfig } from '@bubbles/shared/config.ts';
import { baseUrl, signingKey } from '@bubbles/shared/config-values.ts';
import { type ServiceTokensOptions, serviceTokens } from '@bubbles/shared/http/service-token.ts';
import { z } from 'zod';
import { type AdminCall, adminCall, UsageError } from './commands.ts';

const Environment = z.object({ IDENTITY_URL: baseUrl(), OPERATOR_KEY: signingKey() });
const DEADLINE_MS = 10_000;

const send = async ({ method, path, body }: AdminCall, identityUrl: string, key: ServiceTokensOptions['key']): Promise<Response> => {
  const tokens = serviceTokens({ caller: 'operator', key, clock: systemClock() });
  return fetch(`${identityUrl}/internal/v1/admin/${path}`, {
    method,
    headers: {
      authorization: await tokens.authorizationFor('identity-and-oauth'),
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    body: body === null ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
};

const run = async (): Promise<number> => {
  const call = adminCall(process.argv.slice(2));
  const { IDENTITY_URL, OPERATOR_KEY } = readConfig(Environment, process.env);
  const response = await send(call, IDENTITY_URL, OPERATOR_KEY);
  const text = await response.text();
  if (text !== '') process.stdout.write(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  return response.ok ? 0 : 1;
};

const explain = (error: unknown): string => {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message;
  return Error.isError(error) ? `identity could not be asked: ${error.message}` : String(error);
};

process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  return 2;
});
