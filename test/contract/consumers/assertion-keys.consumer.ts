import { createAssertionKeys } from '@bubbles/auth/assertions.ts';
import { AssertionKeySet } from '@bubbles/contracts/internal/identity.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { expecting } from '../expecting.ts';
import { calledBy, pactBetween, tokensOf } from '../pacts.ts';

/** The public key of RFC 8037, appendix A. */
const key = { kty: 'OKP' as const, crv: 'Ed25519' as const, x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'key-1' };

describe('a service learns the keys that prove assertions', () => {
  it.each(['bubbles-query', 'webhooks-dispatcher', 'meetings-bot-gateway'])('[AUTH-01] %s', async (consumer) => {
    const { body, rules } = expecting(AssertionKeySet, { keys: [key] });
    await pactBetween(consumer, 'identity-and-oauth')
      .addInteraction()
      .uponReceiving('a request for the keys of assertions')
      .withRequest('GET', '/internal/v1/assertion-keys', (request) => {
        request.headers(calledBy(consumer));
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const identity = createInternalClient({ callee: 'identity-and-oauth', baseUrls: [url], tokens: tokensOf(consumer) });
        const fetchKeys = () => identity.get('/internal/v1/assertion-keys', { schema: AssertionKeySet });
        expect(await createAssertionKeys({ fetchKeys, clock: fakeClock() }).find(key.kid)).not.toBeNull();
      });
  });
});
