import { readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { createFragmentClient } from '@bubbles/gateway/fragments/fragment-poll.ts';
import { Address, POOL_LIMITS } from '@bubbles/gateway/upstream/address.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { calledBy, pactBetween, tokensOf } from '../pacts.ts';

const ETAG = '"0f343b0931126a20f133d67c2b018a3b5e8ff1f7b6f5a0c9d9a9b9e5d1c2b3a4"';

const operation = {
  operationId: Matchers.like('getBubble'),
  security: Matchers.eachLike({}),
  'x-gw-auth': Matchers.regex('none|pat|session|pat\\+session', 'pat'),
  'x-internal': Matchers.boolean(false),
  responses: Matchers.like({}),
};

describe('the gateway reads what a service offers', () => {
  it('[API-01] a fragment that it can route by', async () => {
    await pactBetween('gateway', 'bubbles-query')
      .addInteraction()
      .uponReceiving('a request for the fragment')
      .withRequest('GET', '/internal/openapi.json', (request) => {
        request.headers(calledBy('gateway'));
      })
      .willRespondWith(200, (response) => {
        response.headers({ ETag: Matchers.regex('"[^"]+"', ETAG) }).jsonBody({
          openapi: Matchers.regex('3\\.1\\.\\d+', '3.1.0'),
          paths: { '/v1/bubbles/{id}': { get: operation } },
          components: Matchers.like({ schemas: {} }),
        });
      })
      .executeTest(async ({ url }) => {
        const client = createFragmentClient(tokensOf('gateway'));
        const address = new Address(url, systemClock(), POOL_LIMITS);
        const fetched = await client.fetch('bubbles-query', address, null);
        await Promise.all([client.close(), address.close()]);
        expect(fetched.etag).toBe(ETAG);
        const fragment = readFragment('bubbles-query', JSON.parse(fetched.text ?? ''));
        expect(fragment).toMatchObject({ operations: [{ method: 'GET', template: '/v1/bubbles/{id}', auth: 'pat' }] });
      });
  });
});
