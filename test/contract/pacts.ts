import type { Call, InternalClient, ServiceTokens } from '@bubbles/http/client/internal-client.ts';
import { Matchers, PactV4, SpecificationVersion } from '@pact-foundation/pact';
import type { ZodType } from 'zod';
import { expecting } from './expecting.ts';
import { WRITTEN } from './pact-files.ts';

export const pactBetween = (consumer: string, provider: string) =>
  new PactV4({ consumer, provider, dir: WRITTEN, spec: SpecificationVersion.SPECIFICATION_VERSION_V4, logLevel: 'error' });

/** How the pacts write a service token; the providers take it for one (`fakeInternalAuth`), since signatures are tested elsewhere. */
export const tokensOf = (caller: string): ServiceTokens => ({ authorizationFor: () => Promise.resolve(`Bearer service:${caller}`) });

export const calledBy = (caller: string) => ({ authorization: Matchers.regex('Bearer .+', `Bearer service:${caller}`) });

/** The name under which a service expects what identity says of a caller to it: the assertion, taken apart. */
export const claimsMessage = (audience: string): string => `the claims of an assertion for ${audience}`;

/** The schema with which a consumer reads the answer to the call that it makes. */
const schemaReadBy = (ask: (client: InternalClient) => Promise<unknown>): Promise<ZodType> => {
  const { promise, resolve, reject } = Promise.withResolvers<ZodType>();
  const note = <T>({ schema }: Call<T>): Promise<T> => {
    resolve(schema);
    return Promise.reject(new Error('no answer: it is asked for its schema alone'));
  };
  const client: InternalClient = {
    get: (_, call) => note(call),
    post: (_, call) => note(call),
    send: (_method, _path, call) => note(call),
    close: () => Promise.resolve(),
  };
  ask(client).then(
    () => reject(new Error('the consumer asks nobody')),
    () => reject(new Error('the consumer asks nobody')),
  );
  return promise;
};

/** The pact holds the fields of the example that the consumer reads with the schema of its own call, and no others. */
export const readBy = async (ask: (client: InternalClient) => Promise<unknown>, example: object) =>
  expecting<unknown>(await schemaReadBy(ask), example);
