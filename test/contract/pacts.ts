import type { ServiceTokens } from '@bubbles/http/client/internal-client.ts';
import { Matchers, PactV4, SpecificationVersion } from '@pact-foundation/pact';
import { WRITTEN } from './pact-files.ts';

export const pactBetween = (consumer: string, provider: string) =>
  new PactV4({ consumer, provider, dir: WRITTEN, spec: SpecificationVersion.SPECIFICATION_VERSION_V4, logLevel: 'error' });

/** How the pacts write a service token; the providers take it for one (`fakeInternalAuth`), since signatures are tested elsewhere. */
export const tokensOf = (caller: string): ServiceTokens => ({ authorizationFor: () => Promise.resolve(`Bearer service:${caller}`) });

export const calledBy = (caller: string) => ({ authorization: Matchers.regex('Bearer .+', `Bearer service:${caller}`) });
