import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type HookScene, openHookScene, type Subscriber } from './support/hooks.ts';
import type { Person } from './support/world.ts';

let scene: HookScene;
beforeAll(async () => {
  scene = await openHookScene();
});
afterAll(() => scene.close());

type Fields = Readonly<Record<string, unknown>>;
const EVENTS = ['bubble.ready', 'meeting_recording.ready', 'screen_recording.ready'];
const typesOf = ({ receiver }: Subscriber): string[] => receiver.received.map(({ json }) => json.type).toSorted();
const LONG = 3600;

describe('section 6, when an event fires', () => {
  const STAGES = ['created', 'processed', 'transcribed', 'ready'] as const;
  it.each<readonly [string, string, Fields, string]>([
    ['a screen recording', 'screen_recording', {}, 'transcribed'],
    ['a silent screen recording', 'screen_recording', { has_audio: false }, 'processed'],
    ['an image', 'custom_image', {}, 'processed'],
    ['a meeting', 'meeting_recording', {}, 'ready'],
    ['a meeting whose notes are empty', 'meeting_recording', { summary: null, action_items: null }, 'ready'],
    ['a silent meeting', 'meeting_recording', { has_audio: false }, 'ready'],
    ['a zero-media note', 'screen_recording', { has_media: false }, 'never'],
    ['a zero-media meeting', 'meeting_recording', { has_media: false, summary: 'x' }, 'never'],
  ])('[EVT-01] [EVT-02] %s', async (_name, type, fields, when) => {
    const subscriber = await scene.subscriber({ events: EVENTS });
    const id = await subscriber.bubble({ type, stage: 'created', ...fields });
    const own = type === 'custom_image' ? [] : [`${type}.ready`];
    for (const stage of STAGES) {
      if (stage !== 'created') await scene.world.moveBubble(id, { stage });
      const due = when !== 'never' && STAGES.indexOf(stage) >= STAGES.indexOf(when as (typeof STAGES)[number]); // It is a stage.
      expect([stage, typesOf(subscriber)]).toEqual([stage, due ? ['bubble.ready', ...own] : []]);
    }
    await scene.world.changeBubble(id, { title: 'Changed', summary: 'Changed' });
    await scene.advance(LONG);
    expect(typesOf(subscriber)).toHaveLength(when === 'never' ? 0 : 1 + own.length);
  });

  it.each(['draft', 'template', 'archived'])('[EVT-01] one that is %s fires when it becomes readable, once', async (flag) => {
    const subscriber = await scene.subscriber();
    const id = await subscriber.bubble({ [flag]: true });
    expect(typesOf(subscriber)).toEqual([]);
    for (const hidden of [false, true, false]) await scene.world.changeBubble(id, { [flag]: hidden });
    expect(typesOf(subscriber)).toEqual(['bubble.ready']);
  });

  it('[EVT-01] an expired one fires when its end is moved; a removed one never', async () => {
    const subscriber = await scene.subscriber();
    const expired = await subscriber.bubble({ expires_at: '2020-01-01T00:00:00.000Z' });
    const removed = await subscriber.bubble({ stage: 'created' });
    await scene.world.removeBubble(removed);
    await expect(scene.world.moveBubble(removed, { stage: 'ready' })).rejects.toThrow('404');
    expect(typesOf(subscriber)).toEqual([]);
    await scene.world.changeBubble(expired, { expires_at: null });
    expect(typesOf(subscriber)).toEqual(['bubble.ready']);
  });
});

describe('section 6, who is told', () => {
  const bubbleOf = (people: readonly Person[], fields: Fields) =>
    scene.world.bubble({ type: 'screen_recording', participant_ids: people.map(({ id }) => id), ...fields });

  it('[EVT-03] owners who take part, and nobody else of the team', async () => {
    const [one, two, three] = [await scene.subscriber(), await scene.subscriber(), await scene.subscriber()];
    await scene.world.setMember(one.team.id, three.person.id, { role: 'admin' });
    await bubbleOf([one.person, two.person], { team_id: one.team.id, is_public: true });
    expect([one, two, three].map((who) => who.receiver.received.length)).toEqual([1, 1, 0]);
    const [a, b] = [one, two].map(({ receiver }) => receiver.received[0]);
    expect(a?.json.id).toBe(b?.json.id);
    expect(a?.headers['x-service-delivery']).not.toBe(b?.headers['x-service-delivery']);
  });

  it('[EVT-03] the plan of the bubble’s team decides; without a team, that of the owner; leaving ends nothing', async () => {
    const subscriber = await scene.subscriber();
    const { person, receiver } = subscriber;
    const free = await scene.world.team({ name: 'Free', plan: 'free', members: [{ user_id: person.id, role: 'admin' }] });
    await bubbleOf([person], { team_id: free.id });
    expect(receiver.received).toHaveLength(0);
    await bubbleOf([person], { team_id: null });
    expect(receiver.received).toHaveLength(1);
    const foreign = await scene.world.team({ name: 'Foreign', plan: 'pro', members: [] });
    await bubbleOf([person], { team_id: foreign.id });
    expect(receiver.received).toHaveLength(2);
    await scene.world.setMember(free.id, person.id, { role: 'member' });
    await scene.world.endMember(subscriber.team.id, person.id);
    await bubbleOf([person], { team_id: subscriber.team.id });
    expect(receiver.received).toHaveLength(3);
    await bubbleOf([person], { team_id: null });
    expect(receiver.received).toHaveLength(3);
  });

  it.each<readonly [string, (subscriber: Subscriber) => Fields, Fields, boolean]>([
    ['the team', ({ team }) => ({ team_id: team.id }), {}, true],
    ['another team', ({ team }) => ({ team_id: team.id }), { team_id: null, channel_id: null }, false],
    ['the channel', ({ team }) => ({ space_id: team.channels['general'] }), {}, true],
    ['both', ({ team }) => ({ team_id: team.id, space_id: team.channels['other'] }), {}, false],
    ['the type', () => ({ filters: { bubble_types: ['screen_recording'] } }), {}, true],
    ['another type', () => ({ filters: { bubble_types: ['custom_image', 'meeting_recording'] } }), {}, false],
    ['their own', () => ({ filters: { only_my_bubbles: true } }), {}, true],
    ['those of any author', () => ({ filters: { only_my_bubbles: false } }), { author: 'other' }, true],
    ['another’s', () => ({ filters: { only_my_bubbles: true } }), { author: 'other' }, false],
    ['another event', () => ({ events: ['meeting_recording.ready'] }), {}, false],
  ])('[EVT-03] [HOOK-03] a subscription narrowed to %s', async (_name, scope, fields, told) => {
    const first = await scene.subscriber();
    await first.call('DELETE', `/${first.id}`);
    const body = { url: first.receiver.url, events: ['bubble.ready'], ...scope(first) };
    expect((await first.call('POST', '', body)).status).toBe(201);
    const other = await scene.world.user();
    const { author, ...rest } = fields;
    const people = author === 'other' ? [other, first.person] : [first.person, other];
    await bubbleOf(people, { team_id: first.team.id, channel_id: first.team.channels['general'], ...rest });
    expect(first.receiver.received).toHaveLength(told ? 1 : 0);
  });
});

describe('section 6, what ends a delivery that waits', () => {
  it.each<readonly [string, string, (subscriber: Subscriber, bubble: string) => Promise<unknown>]>([
    ['the bubble is archived', 'bubble_not_readable', (_, id) => scene.world.changeBubble(id, { archived: true })],
    ['the bubble is a draft', 'bubble_not_readable', (_, id) => scene.world.changeBubble(id, { draft: true })],
    ['the bubble is removed', 'bubble_not_readable', (_, id) => scene.world.removeBubble(id)],
    [
      'the owner takes no part',
      'not_participating',
      async (_, id) => scene.world.changeBubble(id, { participant_ids: [(await scene.world.user()).id] }),
    ],
    [
      'the owner takes no part in a public one',
      'not_participating',
      async (_, id) => scene.world.changeBubble(id, { is_public: true, participant_ids: [(await scene.world.user()).id] }),
    ],
    ['the team is on the free plan', 'plan_required', ({ team }) => scene.world.changeTeam(team.id, { plan: 'free' })],
    ['the team is archived', 'team_archived', ({ team }) => scene.world.changeTeam(team.id, { archived: true })],
    ['the account is disabled', 'account_closed', ({ person }) => scene.world.setState(person.id, 'disabled')],
    [
      'the event is not asked for',
      'event_not_selected',
      ({ call, id }) => call('PATCH', `/${id}`, { events: ['meeting_recording.ready'] }),
    ],
    [
      'the filters leave it out',
      'no_longer_matches',
      ({ call, id }) => call('PATCH', `/${id}`, { filters: { bubble_types: ['custom_image'] } }),
    ],
  ])('[EVT-03] [HOOK-06] %s', async (_name, reason, end) => {
    const subscriber = await scene.subscriber();
    subscriber.receiver.answer(500);
    const id = await subscriber.bubble();
    await end(subscriber, id);
    await scene.advance(LONG);
    expect(subscriber.receiver.received).toHaveLength(1);
    await scene.world.changeTeam(subscriber.team.id, { plan: 'pro', archived: false });
    await scene.world.setState(subscriber.person.id, 'active');
    await scene.advance(LONG);
    expect(subscriber.receiver.received).toHaveLength(1);
    const [delivery] = await subscriber.log();
    expect(delivery).toMatchObject({ status: 'cancelled', cancelled_reason: reason, next_attempt_at: null, attempts: [{ number: 1 }] });
  });

  it('[EVT-03] the account is deleted, and opened again it has nothing of before', async () => {
    const subscriber = await scene.subscriber();
    subscriber.receiver.answer(500);
    await subscriber.bubble();
    for (const state of ['deleted', 'active'] as const) {
      await scene.world.setState(subscriber.person.id, state);
      await scene.advance(LONG);
      expect(subscriber.receiver.received).toHaveLength(1);
    }
    expect((await subscriber.call('GET', '')).status).toBe(401);
  });

  it('[HOOK-06] a subscription that is deleted is told nothing any more', async () => {
    const subscriber = await scene.subscriber();
    subscriber.receiver.answer(500);
    await subscriber.bubble();
    await subscriber.call('DELETE', `/${subscriber.id}`);
    await subscriber.bubble();
    await scene.advance(LONG);
    expect(subscriber.receiver.received).toHaveLength(1);
  });

  it('[DLV-04] [HOOK-05] a retry goes to the current URL', async () => {
    const [subscriber, other] = [await scene.subscriber(), await scene.subscriber()];
    subscriber.receiver.answer(500);
    await subscriber.bubble();
    await subscriber.call('PATCH', `/${subscriber.id}`, { url: other.receiver.url });
    await scene.advance(60);
    expect([subscriber, other].map(({ receiver }) => receiver.received.length)).toEqual([1, 1]);
  });
});

describe('section 6, while a service is down', () => {
  it.each(['bubbles-query', 'identity-and-oauth'])('[DLV-05] [EVT-03] what %s is asked for is put off without charge', async (service) => {
    const subscriber = await scene.subscriber();
    subscriber.receiver.answer(500);
    await subscriber.bubble();
    await scene.service(service, { state: 'down' });
    await scene.advance(90);
    expect(subscriber.receiver.received).toHaveLength(1);
    subscriber.receiver.answer(200);
    await scene.service(service, { state: 'up' });
    await scene.advance(30);
    expect(subscriber.receiver.received).toHaveLength(2);
    expect((await subscriber.log())[0]).toMatchObject({ status: 'succeeded', attempts: [{ number: 1 }, { number: 2, status: 200 }] });
  });

  it('[DLV-05] what becomes ready while the dispatcher is down is delivered, and what was due', async () => {
    const subscriber = await scene.subscriber();
    subscriber.receiver.answer(500);
    const due = await subscriber.bubble();
    await scene.service('webhooks-dispatcher', { state: 'down' });
    expect((await subscriber.call('GET')).status).toBe(500);
    const late = await subscriber.bubble();
    await scene.advance(60);
    expect(subscriber.receiver.received).toHaveLength(1);
    subscriber.receiver.answer(200);
    await scene.service('webhooks-dispatcher', { state: 'up' });
    expect(subscriber.receiver.received.map(({ json }) => json.data.bubble.id).toSorted()).toEqual([due, due, late].toSorted());
    await scene.advance(LONG);
    expect(subscriber.receiver.received).toHaveLength(3);
  });
});
