import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { InternalAuth } from '@bubbles/auth/guards.ts';
import { serviceAuth, serviceTokens } from '@bubbles/auth/service-tokens.ts';
import type { ServiceTokens } from '@bubbles/http/client/internal-client.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';

const CALLERS = ['gateway', 'identity-and-oauth', 'bubbles-query', 'webhooks-dispatcher', 'operator'] as const;
export type CallerName = (typeof CALLERS)[number];

/** Everybody's key for this run of the sandbox. They prove who calls on the wire between services, as they do in production. */
export interface ServiceKeys {
  privateKey(caller: CallerName): KeyObject;
  tokens(caller: CallerName): ServiceTokens;
  /** What a service checks its callers with. */
  auth(audience: string): InternalAuth;
}

export function serviceKeys(clock: Clock): ServiceKeys {
  const pairs = new Map(CALLERS.map((caller) => [caller, generateKeyPairSync('ed25519')]));
  const privateKey = (caller: CallerName): KeyObject => {
    const pair = pairs.get(caller);
    if (pair === undefined) throw new Error(`${caller} has no key`);
    return pair.privateKey;
  };
  const callers = new Map([...pairs].map(([caller, { publicKey }]) => [caller, [publicKey]]));
  return {
    privateKey,
    tokens: (caller) => serviceTokens({ caller, key: privateKey(caller), clock }),
    auth: (audience) => serviceAuth({ audience, callers, clock }),
  };
}
