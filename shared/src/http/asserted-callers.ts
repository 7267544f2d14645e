import type { Clock } from '../clock.ts';
import { assertionAuthenticator } from './assertion.ts';
import { AssertionKeySet, assertionKeys } from './assertion-keys.ts';
import type { Authenticator } from './authenticator.ts';
import type { InternalClient } from './internal-client.ts';

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
