import { createPrivateKey, sign } from 'node:crypto';
import { AssertedClaims, assertedCallers } from '@bubbles/auth/assertions.ts';
import { createInternalClient, type InternalClient } from '@bubbles/http/client/internal-client.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { everyService } from '../../support/services.ts';
import { AT, USER_ID } from '../examples.ts';
import { expecting } from '../expecting.ts';
import { calledBy, claimsMessage, pactBetween, readBy, tokensOf } from '../pacts.ts';

const IDENTITY = 'identity-and-oauth';
/** The key of RFC 8037, appendix A. */
const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'key-1' };
const PRIVATE = createPrivateKey({ key: { ...key, d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A' }, format: 'jwk' });
const ISSUED_AT = Date.parse(AT) / 1000;

const assertionTo = (audience: string) => ({
  header: { alg: 'EdDSA', typ: 'assertion+jwt', kid: key.kid },
  claims: {
    iss: IDENTITY,
    aud: audience,
    sub: USER_ID,
    cid: 'key-of-ada',
    kind: 'pat' as const,
    scopes: ['bubbles:read'],
    life: 1,
    iat: ISSUED_AT,
    exp: ISSUED_AT + 60,
  },
});

const signed = ({ header, claims }: { readonly header: unknown; readonly claims: unknown }): string => {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${sign(null, Buffer.from(text), PRIVATE).toString('base64url')}`;
};

const callerIn = (consumer: string, identity: InternalClient, assertion: unknown = assertionTo(consumer)) =>
  assertedCallers({ audience: consumer, identity, clock: fakeClock(new Date(AT)) }).callerOf(signed(Object(assertion)));

/** Identity decides about its own callers itself. */
const consumers = everyService()
  .filter(
    ({ name, routes }) => name !== IDENTITY && routes.some(({ spec: { guard } }) => guard.callers === null && guard.security.length > 0),
  )
  .map(({ name }) => name);

describe('a service learns who calls', () => {
  it.each(consumers)('[AUTH-01] %s, by the keys that prove assertions', async (consumer) => {
    const { body, rules } = await readBy((client) => callerIn(consumer, client), { keys: [key] });
    await pactBetween(consumer, IDENTITY)
      .addInteraction()
      .uponReceiving('a request for the keys of assertions')
      .withRequest('GET', '/internal/v1/assertion-keys', (request) => {
        request.headers(calledBy(consumer));
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const client = createInternalClient({ callee: IDENTITY, baseUrls: [url], tokens: tokensOf(consumer) });
        expect(await callerIn(consumer, client)).toMatchObject({ userId: USER_ID });
      });
  });

  it.each(consumers)('[AUTH-01] %s, by the claims of an assertion', async (consumer) => {
    const Assertion = z.object({
      header: z.object({ alg: z.literal('EdDSA'), typ: z.literal('assertion+jwt'), kid: z.string() }),
      claims: AssertedClaims.extend({ iss: z.literal(IDENTITY), aud: z.literal(consumer) }),
    });
    const { body, rules } = expecting<object>(Assertion, assertionTo(consumer));
    const identity: InternalClient = {
      get: async (_, { schema }) => schema.parse({ keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'newer' }, key] }),
      post: () => Promise.reject(new Error('it is asked for its keys alone')),
      send: () => Promise.reject(new Error('it is asked for its keys alone')),
      close: () => Promise.resolve(),
    };
    await pactBetween(consumer, IDENTITY)
      .addAsynchronousInteraction()
      .expectsToReceive(claimsMessage(consumer), (message) => {
        message.withJSONContent(body).withMatchingRules({ body: [...rules] });
      })
      .executeTest(async ({ contents }) => {
        const caller = { userId: USER_ID, life: 1, credentialId: 'key-of-ada', kind: 'pat', scopes: ['bubbles:read'] };
        expect(await callerIn(consumer, identity, contents.content)).toEqual(caller);
      });
  });
});
