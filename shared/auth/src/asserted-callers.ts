import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { assertionAuthenticator } from './assertion.ts';
import { AssertionKeySet, assertionKeys } from './assertion-keys.ts';
import type { Authenticator } from './guards.ts';

export interface AssertedCallersOptions {
  /** The service that is called. */
  readonly audience: string;
  readonly identity: InternalClient;
  readonly clock: Clock;
}

/** Callers are who identity says they are. */
export const assertedCallers = ({ audience, identity, clock }: AssertedCallersOptions): Authenticator => {
  const fetchKeys = () => identity.get('/internal/v1/assertion-keys', { schema: AssertionKeySet });
  return assertionAuthenticator({ audience, clock, keys: assertionKeys({ clock, fetchKeys }) });
};
