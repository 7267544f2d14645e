import { beforeAll, describe, expect, it } from '@jest/globals';
import { told } from './compare.ts';
import { breaksOfSamples, makeSamples, type WrittenSamples } from './families.ts';
import { stepsOf, valueAt } from './spots.ts';

/** What the release wrote in another form than the code of now does. */
const OTHERWISE: readonly (readonly [change: string, family: string, at: string, to: unknown, says: string])[] = [
  [
    'a claim is gone',
    'assertion',
    '/claims/team',
    'team-1',
    'identity-and-oauth breaks every service: assertion: claims.team was "team-1" and is nothing',
  ],
  ['a claim means something else', 'assertion', '/claims/kind', 'key', 'assertion: claims.kind was "key" and is "pat"'],
  ['an assertion lives for a shorter time', 'assertion', '/claims/exp', 1_769_852_000, 'assertion: claims.exp was 1769852000'],
  ['an assertion has another type of token', 'assertion', '/header/typ', 'JWT', 'assertion: header.typ was "JWT" and is "assertion+jwt"'],
  ['an assertion is signed otherwise', 'assertion', '/header/alg', 'ES256', 'assertion: header.alg was "ES256" and is "EdDSA"'],
  ['an assertion is refused', 'assertion', '/token', 'eyJhbGciOiJub25lIn0.e30.', 'assertion: the code of now refuses it'],
  [
    'a service token has another type',
    'service token',
    '/header/typ',
    'JWT',
    'every service breaks every service that it calls: service token: header.typ was "JWT"',
  ],
  ['a service token is refused', 'service token', '/token', 'eyJhbGciOiJub25lIn0.e30.', 'service token: the code of now refuses it'],
  [
    'a claim of an access token is gone',
    'access token',
    '/claims/grant',
    'grant-1',
    'access token: claims.grant was "grant-1" and is nothing',
  ],
  [
    'an access token is not believed',
    'access token',
    '/token',
    'eyJhbGciOiJub25lIn0.e30.',
    'access token: the code of now reads it otherwise',
  ],
  [
    'the exchange is renamed',
    'exchange, queues and routing keys',
    '/exchange',
    'bubbles',
    'exchange was "bubbles" and is "bubbles.events"',
  ],
  [
    'a queue is renamed',
    'exchange, queues and routing keys',
    '/routing/bubbles.bubble.ready.v1/queues/webhooks-dispatcher/0',
    'dispatcher.ready',
    'routing.bubbles.bubble.ready.v1.queues.webhooks-dispatcher[0] was "dispatcher.ready"',
  ],
  [
    'an event is published no more',
    'exchange, queues and routing keys',
    '/routing/bubbles.bubble.made.v1',
    { publisher: 'bubbles-query', queues: {} },
    'routing.bubbles.bubble.made.v1 was',
  ],
  ['a prefix of ids changes', 'ids, keys and secrets', '/subscription', 'hook_00', 'ids, keys and secrets: subscription was "hook_00"'],
  ['an id is derived otherwise', 'ids, keys and secrets', '/delivery', 'dlv_00', 'ids, keys and secrets: delivery was "dlv_00"'],
  ['a prefix of tokens changes', 'ids, keys and secrets', '/key/token', 'pat_00', 'ids, keys and secrets: key.token was "pat_00"'],
  [
    'a signature is computed otherwise',
    'signature and headers of a delivery',
    '/signature',
    't=1,v1=00',
    'webhook receivers: signature and headers of a delivery: signature was "t=1,v1=00"',
  ],
  [
    'a header of a delivery is written otherwise',
    'signature and headers of a delivery',
    '/headers/X-Service-Id',
    'dlv_1',
    'headers.X-Service-Id was "dlv_1" and is nothing',
  ],
  [
    'a refusal has another status',
    'error table',
    '/table/limit_reached/envelope/status',
    422,
    'error table: table.limit_reached.envelope.status was 422 and is 409',
  ],
  [
    'a refusal has another type',
    'error table',
    '/table/not_found/envelope/type',
    'missing',
    'error table: table.not_found.envelope.type was "missing" and is "not_found"',
  ],
  ['an error type is gone', 'error table', '/types/conflict', true, 'error table: types.conflict was true and is nothing'],
  [
    'a lifetime changes',
    'lifetimes',
    '/OAUTH_ACCESS_TOKEN_LIFE',
    7_200_000,
    'lifetimes: OAUTH_ACCESS_TOKEN_LIFE was 7200000 and is 3600000',
  ],
  [
    'a rate limit header is written otherwise',
    'rate limit headers',
    '/budget/RateLimit',
    'limit=120',
    'rate limit headers: budget.RateLimit was "limit=120"',
  ],
  [
    'a cursor is written otherwise',
    'cursors of subscriptions, deliveries and joins',
    '/deliveries',
    'AAAA',
    'a cursor of the release for deliveries is refused',
  ],
  [
    'a cursor of a list is refused',
    'what bubbles-query makes of events, and its cursors',
    '/pages/~1v1~1bubbles?limit=1/0/next_cursor',
    'AAAA',
    'a cursor of the release is refused: /v1/bubbles?limit=1&cursor=AAAA answers 400',
  ],
  [
    'an answer has another unit',
    'what bubbles-query makes of events, and its cursors',
    '/answers/~1v1~1bubbles~18b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f10/media/duration_seconds',
    45_000,
    'media.duration_seconds was 45000 and is 45',
  ],
  [
    'a list has another order',
    'what bubbles-query makes of events, and its cursors',
    '/answers/~1v1~1bubbles/data/0/title',
    'Undated review',
    'data[0].title was "Undated review" and is "Weekly review"',
  ],
  [
    'a field is delivered no more',
    'what webhooks-dispatcher delivers of an event',
    '/body/data/bubble/mood',
    'glad',
    'webhooks-dispatcher breaks webhook receivers: what webhooks-dispatcher delivers of an event: body.data.bubble.mood was "glad" and is nothing',
  ],
  [
    'an event of the release is not taken',
    'what webhooks-dispatcher delivers of an event',
    '/told/0/data/participant_user_ids',
    'ada',
    'it cannot be made any more: bubbles.bubble.ready.v1 is dead-lettered',
  ],
];

describe('bytes that a release wrote', () => {
  let made: WrittenSamples;
  beforeAll(async () => {
    // As they are read back from their file.
    made = JSON.parse(JSON.stringify(await makeSamples()));
  });

  it('are those that the code of now writes and takes', async () => {
    expect((await breaksOfSamples(made)).map(told)).toEqual([]);
  });

  it.each(OTHERWISE)('are told apart when %s', async (_, family, at, to, says) => {
    const samples = structuredClone({ [family]: made.samples[family] });
    const steps = stepsOf(at);
    Reflect.set(Object(valueAt(samples[family], steps.slice(0, -1))), steps.at(-1) ?? '', to);
    const breaks = await breaksOfSamples({ keys: made.keys, samples });
    expect(breaks.map(told)).toContainEqual(expect.stringContaining(says));
  });

  it('are not forgotten', async () => {
    const breaks = await breaksOfSamples({ keys: made.keys, samples: { 'form of pages': {} } });
    expect(breaks.map(told)).toEqual(['the tree breaks processes of the release: form of pages: nobody makes this sample any more.']);
  });
});
