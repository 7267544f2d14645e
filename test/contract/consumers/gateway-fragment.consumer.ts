import { readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { createFragmentClient } from '@bubbles/gateway/fragments/fragment-poll.ts';
import { Address, POOL_LIMITS } from '@bubbles/gateway/upstream/address.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { calledBy, pactBetween, tokensOf } from '../pacts.ts';

const ETAG = '"0f343b0931126a20f133d67c2b018a3b5e8ff1f7b6f5a0c9d9a9b9e5d1c2b3a4"';

const common = {
  operationId: Matchers.like('getBubble'),
  'x-internal': Matchers.boolean(false),
  responses: Matchers.like({}),
};
const operation = {
  ...common,
  security: Matchers.eachLike({}),
  'x-gw-auth': Matchers.regex('none|pat|session|pat\\+session', 'pat'),
};
/** Identity decides itself who calls, and the gateway refuses in the form that the operation names. */
const refusing = (errorFormat: 'rfc6749' | 'page') => ({ ...common, 'x-gw-auth': 'none', 'x-gw-error-format': errorFormat });
const tokenEndpoint = { ...refusing('rfc6749'), 'x-gw-body-limit': 32 * 1024 };

/** What the gateway fetches of the replica at this URL. */
const fetched = async (service: string, url: string) => {
  const client = createFragmentClient(tokensOf('gateway'));
  const address = new Address(url, systemClock(), POOL_LIMITS);
  const { etag, text } = await client.fetch(service, address, null);
  await Promise.all([client.close(), address.close()]);
  return { etag, fragment: readFragment(service, JSON.parse(text ?? '')) };
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
        const { etag, fragment } = await fetched('bubbles-query', url);
        expect(etag).toBe(ETAG);
        expect(fragment).toMatchObject({ operations: [{ method: 'GET', template: '/v1/bubbles/{id}', auth: 'pat' }] });
      });
  });

  it('[SIGN-09] which GETs act, so that it answers their HEAD and sends them once', async () => {
    const path = '/v1/signup/start';
    const step = { ...common, 'x-gw-auth': 'none' };
    await pactBetween('gateway', 'signup')
      .addInteraction()
      .uponReceiving('a request for the fragment with steps by POST and GET')
      .withRequest('GET', '/internal/openapi.json', (request) => {
        request.headers(calledBy('gateway'));
      })
      .willRespondWith(200, (response) => {
        response.headers({ ETag: Matchers.regex('"[^"]+"', ETAG) }).jsonBody({
          openapi: Matchers.regex('3\\.1\\.\\d+', '3.1.0'),
          paths: { [path]: { post: step, get: { ...step, 'x-gw-unsafe': true } } },
          components: Matchers.like({ schemas: {} }),
        });
      })
      .executeTest(async ({ url }) => {
        const { fragment } = await fetched('signup', url);
        expect(fragment).toMatchObject({
          operations: expect.arrayContaining([
            expect.objectContaining({ method: 'POST', template: path, isUnsafe: false }),
            expect.objectContaining({ method: 'GET', template: path, isUnsafe: true }),
          ]),
        });
      });
  });

  it('[ERR-06] how the OAuth endpoints and pages of identity refuse, and how large a body they take', async () => {
    await pactBetween('gateway', 'identity-and-oauth')
      .addInteraction()
      .uponReceiving('a request for the fragment with OAuth endpoints')
      .withRequest('GET', '/internal/openapi.json', (request) => {
        request.headers(calledBy('gateway'));
      })
      .willRespondWith(200, (response) => {
        response.headers({ ETag: Matchers.regex('"[^"]+"', ETAG) }).jsonBody({
          openapi: Matchers.regex('3\\.1\\.\\d+', '3.1.0'),
          paths: { '/oauth/token': { post: tokenEndpoint }, '/oauth/authorize': { get: refusing('page') } },
          components: Matchers.like({ schemas: {} }),
        });
      })
      .executeTest(async ({ url }) => {
        const { fragment } = await fetched('identity-and-oauth', url);
        expect(fragment).toMatchObject({
          operations: expect.arrayContaining([
            expect.objectContaining({ method: 'POST', template: '/oauth/token', errorFormat: 'rfc6749', bodyLimitBytes: 32 * 1024 }),
            expect.objectContaining({ method: 'GET', template: '/oauth/authorize', auth: 'none', errorFormat: 'page' }),
          ]),
        });
      });
  });
});
