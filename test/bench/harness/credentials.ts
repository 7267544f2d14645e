import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { type CheckResult, ChecksResponse } from '@bubbles/contracts/internal/identity.ts';
import { OPERATOR } from '@bubbles/contracts/services.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { hashToken } from '@bubbles/identity-and-oauth/domain/token.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';

const CALLERS = [
  ...(['gateway', 'identity-and-oauth', 'bubbles-query', 'webhooks-dispatcher', 'meetings-bot-gateway', 'signup'] as const),
  OPERATOR,
] as const;
type CallerName = (typeof CALLERS)[number];

/** Of every seeded account; it is on plan pro. */
export const TEAM_ID = 'team-1';

/** The keys that the services know each other by, in the form of their environment. */
export interface Keys {
  /** Private, base64 of PKCS#8. */
  readonly own: Readonly<Record<CallerName, string>>;
  /** Public ones of all callers, as `CALLER_KEYS`. */
  readonly callers: string;
  readonly gateway: KeyObject;
}

export const makeKeys = (): Keys => {
  const pairs = CALLERS.map((name) => ({ name, ...generateKeyPairSync('ed25519') }));
  const own = (name: CallerName): string => {
    const key = pairs.find((pair) => pair.name === name)?.privateKey;
    return key?.export({ format: 'der', type: 'pkcs8' }).toString('base64') ?? '';
  };
  const [gateway] = pairs;
  if (gateway === undefined) throw new Error('there is no caller');
  return {
    // One for each name.
    own: Object.fromEntries(CALLERS.map((name) => [name, own(name)])) as Keys['own'],
    callers: pairs.map(({ name, publicKey }) => `${name}=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`).join(),
    gateway: gateway.privateKey,
  };
};

/** Has identity vouch for the owners of some tokens, as the gateway does; good for a minute. */
export const assertionsOf = async (
  { gateway }: Keys,
  { identityUrl, tokens }: { readonly identityUrl: string; readonly tokens: readonly string[] },
): Promise<readonly string[]> => {
  const client = createInternalClient({
    callee: 'identity-and-oauth',
    baseUrls: [identityUrl],
    tokens: serviceTokens({ caller: 'gateway', key: gateway, clock: systemClock() }),
  });
  const checks = tokens.map((token) => ({ h: hashToken(token), jwt: null, aud: 'bubbles-query', accepts: ['pat'] }));
  const { answers } = await client.post('/internal/v1/checks', { schema: ChecksResponse, body: { checks } });
  await client.close();
  return answers.map(assertionIn);
};

const assertionIn = (answer: CheckResult): string => {
  if (answer.outcome !== 'allowed') throw new Error(`a credential of the bench is ${answer.outcome}`);
  return answer.assertion;
};
