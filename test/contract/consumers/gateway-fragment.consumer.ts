import { readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { createFragmentClient } from '@bubbles/gateway/fragments/fragment-poll.ts';
import { Address, POOL_LIMITS } from '@bubbles/gateway/upstream/address.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { calledBy, pactBetween, tokensOf } from '../pacts.ts';

const ETAG = '"0f343b0931126a20f133d67c2b018a3b5e8ff1f7b6f5a0c9d9a9b9e5d1c2b3a4"';

/** What the gateway reads of an operation, and what it makes of that. */
interface Offered {
  readonly marks: Readonly<Record<string, unknown>>;
  readonly understood: Readonly<Record<string, unknown>>;
}

const taking = (auth: 'pat' | 'session' | 'pat+session'): Offered => ({
  marks: { 'x-gw-auth': auth, security: Matchers.eachLike({}) },
  understood: { auth },
});
/** The service decides itself who calls. */
const OPEN: Offered = { marks: { 'x-gw-auth': 'none' }, understood: { auth: 'none' } };
/** The gateway refuses in its place in the form that the operation names. */
const refusing = (errorFormat: 'rfc6749' | 'page'): Offered => ({
  marks: { 'x-gw-auth': 'none', 'x-gw-error-format': errorFormat },
  understood: { auth: 'none', errorFormat },
});
/** No client is shown it. */
const HIDDEN = { marks: { 'x-gw-undocumented': true }, understood: {} };
/** A GET that acts: its HEAD is refused, and it is sent once. */
const UNSAFE = { marks: { 'x-gw-unsafe': true }, understood: { isUnsafe: true } };
const upTo = (bytes: number) => ({ marks: { 'x-gw-body-limit': Matchers.integer(bytes) }, understood: { bodyLimitBytes: bytes } });
const within = (seconds: number) => ({ marks: { 'x-gw-timeout': Matchers.number(seconds) }, understood: { timeoutMs: seconds * 1000 } });

const all = (...parts: readonly Offered[]): Offered => ({
  marks: Object.assign({}, ...parts.map(({ marks }) => marks)),
  understood: Object.assign({}, ...parts.map(({ understood }) => understood)),
});

type Operations = Readonly<Record<string, Readonly<Record<string, Offered>>>>;

/** Of each service every mark that it makes, on an operation that needs it. */
const OFFERED: Readonly<Record<string, Operations>> = {
  'bubbles-query': { '/v1/bubbles/{id}': { get: taking('pat') } },
  'webhooks-dispatcher': { '/v1/webhooks': { get: taking('pat'), post: taking('pat+session') } },
  'meetings-bot-gateway': {
    '/v1/meetings/join': { post: taking('pat') },
    '/hooks/notetakers/{provider}': { post: all(OPEN, HIDDEN, upTo(256 * 1024)) },
    '/media/{key}': { get: all(OPEN, HIDDEN, within(301)) },
  },
  signup: {
    '/v1/signup/start': { post: OPEN, get: all(OPEN, UNSAFE) },
    '/connect/calendar/{provider}/callback': { get: all(refusing('page'), HIDDEN, UNSAFE, within(16)) },
  },
  'identity-and-oauth': {
    '/v1/me': { get: taking('pat') },
    '/v1/api-keys': { get: taking('session') },
    '/oauth/token': { post: all(refusing('rfc6749'), upTo(32 * 1024)) },
    '/oauth/authorize': { get: refusing('page') },
    '/app/': { get: all(refusing('page'), HIDDEN) },
  },
};

/** What the gateway fetches of the replica at this URL. */
const fetched = async (service: string, url: string) => {
  const client = createFragmentClient(tokensOf('gateway'));
  const address = new Address(url, systemClock(), POOL_LIMITS);
  const { etag, text } = await client.fetch(service, address, null);
  await Promise.all([client.close(), address.close()]);
  return { etag, fragment: readFragment(service, JSON.parse(text ?? '')) };
};

const common = (operationId: string) => ({
  operationId: Matchers.like(operationId),
  'x-internal': Matchers.boolean(false),
  responses: Matchers.like({}),
});

describe('the gateway reads what a service offers', () => {
  it.each(Object.entries(OFFERED))('[API-01] [ERR-06] [SIGN-09] %s: a fragment that it can route by', async (service, paths) => {
    const operations = Object.entries(paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, offered]) => ({ template, method, ...offered })),
    );
    const shown: Record<string, Record<string, object>> = {};
    for (const { template, method, marks } of operations)
      shown[template] = { ...shown[template], [method]: { ...common(`${method}${template}`), ...marks } };
    await pactBetween('gateway', service)
      .addInteraction()
      .uponReceiving('a request for the fragment')
      .withRequest('GET', '/internal/openapi.json', (request) => {
        request.headers(calledBy('gateway'));
      })
      .willRespondWith(200, (response) => {
        response.headers({ ETag: Matchers.regex('"[^"]+"', ETAG) }).jsonBody({
          openapi: Matchers.regex('3\\.1\\.\\d+', '3.1.0'),
          paths: shown,
          components: Matchers.like({ schemas: {} }),
        });
      })
      .executeTest(async ({ url }) => {
        const { etag, fragment } = await fetched(service, url);
        expect(etag).toBe(ETAG);
        const read = operations.map(({ template, method, understood }) =>
          expect.objectContaining({ template, method: method.toUpperCase(), ...understood }),
        );
        expect(fragment).toMatchObject({ operations: expect.arrayContaining(read) });
      });
  });
});
