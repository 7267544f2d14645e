import { bubblesQuery } from '@bubbles/bubbles-query/service.ts';
import type { EventHandler } from '@bubbles/bus/bus.ts';
import { handleMessage } from '@bubbles/bus/cloud-event.ts';
import { cursorsWith, type DefineCursor } from '@bubbles/kernel/cursors.ts';
import { cursors as joinCursors } from '@bubbles/meetings-bot-gateway/adapters/http/cursors.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { aCaller } from '@bubbles/testing/http.ts';
import { startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { cursors as webhookCursors } from '@bubbles/webhooks-dispatcher/adapters/http/cursors.ts';
import { z } from 'zod';
import { CONFIG, startDispatcher } from '../../services/webhooks-dispatcher/test/dispatcher.ts';
import { startReceiver } from '../../services/webhooks-dispatcher/test/receivers.ts';
import { aBubble, BUBBLE_ID, USER_ID } from '../contract/examples.ts';
import { comment, details, media, notes, thread, transcript } from '../contract/facts.ts';
import { lostOf, SAMPLE_TIME, type SampleFamily, type SampleKeys } from './samples.ts';

/** A message as a publisher sends it. */
const messageOf = (type: string, source: string, data: unknown) => ({
  specversion: '1.0',
  id: `${type}-1`,
  source,
  type,
  time: SAMPLE_TIME.toISOString(),
  datacontenttype: 'application/json',
  data,
});
const Messages = z.object({ told: z.array(z.looseObject({ type: z.string() })) });

/** Tells a service of now what was told to that of the release. */
const tell = async (handlers: readonly EventHandler[], messages: z.infer<typeof Messages>['told']): Promise<void> => {
  for (const message of messages) {
    const handler = handlers.find(({ event }) => event.type === message.type);
    if (!handler) throw new Error(`nobody handles ${message.type} any more`);
    const result = await handleMessage(handler, Buffer.from(JSON.stringify(message)), (one) => one);
    if (result.kind === 'unreadable') throw new Error(`${message.type} is dead-lettered: ${result.reason}`);
    if (result.kind !== 'handled') throw new Error(`${message.type} is not handled: ${String(result.error)}`);
  }
};

const OLDER_ID = '1d4b6a2e-0c3f-4b7a-8e5d-9f6a7b8c9d0e';
const older = { ...details, bubble_id: OLDER_ID, title: 'Review of the year', created_at: '2025-12-31T09:30:00.000Z' };
const undated = { ...details, bubble_id: '2d4b6a2e-0c3f-4b7a-8e5d-9f6a7b8c9d0e', title: 'Undated review', created_at: null };
const later = { ...comment, comment_id: 'comment-2', body: 'Indeed.', created_at: '2026-01-31T09:31:00.000Z' };
const FROM_THE_PIPELINE: readonly (readonly [string, unknown])[] = [
  ['recording.bubble.created.v1', details],
  ['recording.bubble.created.v1', older],
  ['recording.bubble.created.v1', undated],
  ['recording.media.processed.v1', media],
  ['recording.transcript.completed.v1', transcript],
  ['recording.notes.generated.v1', notes],
  ['recording.thread.changed.v1', thread],
  ['recording.comment.posted.v1', comment],
  ['recording.comment.posted.v1', later],
];
const ONE = `/v1/bubbles/${BUBBLE_ID}`;
const LISTS = ['/v1/bubbles?limit=1', '/v1/bubbles/search?q=review&limit=1', `${ONE}/comments?limit=1`];
const READS = [ONE, `${ONE}/transcript`, `${ONE}/transcript?format=text`, '/v1/bubbles', `${ONE}/comments`];

const Page = z.looseObject({ data: z.array(z.unknown()), next_cursor: z.string().nullable() });
const Pages = z.object({ pages: z.record(z.string(), z.array(Page)) });

const answered = async (service: TestService, path: string): Promise<unknown> => {
  const response = await service.fetch(path);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${text}`);
  return JSON.parse(text);
};

const withBubbles = async <T>(messages: z.infer<typeof Messages>['told'], work: (service: TestService) => Promise<T>): Promise<T> => {
  const service = await startTestService(bubblesQuery, { clock: fakeClock(SAMPLE_TIME) });
  try {
    service.actAs(aCaller({ userId: USER_ID }));
    await tell(service.service.eventHandlers, messages);
    await service.service.settle();
    return await work(service);
  } finally {
    await service.stop();
  }
};

const toldTo = (sample: unknown, first: readonly (readonly [string, unknown])[], source: string) =>
  sample === null ? first.map(([type, data]) => messageOf(type, source, data)) : Messages.parse(sample).told;

const reading: SampleFamily = {
  name: 'what bubbles-query makes of events, and its cursors',
  contract: 'public',
  producer: 'bubbles-query',
  consumers: 'public clients',
  make: (_, sample) => {
    const told = toldTo(sample, FROM_THE_PIPELINE, 'recording-pipeline');
    return withBubbles(told, async (service) => {
      const pages: Record<string, unknown[]> = {};
      for (const list of LISTS) {
        const first = Page.parse(await answered(service, list));
        pages[list] = [first, await answered(service, `${list}&cursor=${first.next_cursor}`)];
      }
      const answers: Record<string, unknown> = {};
      for (const path of READS) answers[path] = await answered(service, path);
      return { told, pages, answers };
    });
  },
  refusals: (sample) =>
    withBubbles(Messages.parse(sample).told, async (service) => {
      const behind = Object.entries(Pages.parse(sample).pages).map(async ([list, [first, second]]) => {
        try {
          const page = await answered(service, `${list}&cursor=${first?.next_cursor}`);
          return lostOf(second, page).map((lost) => `the page behind a cursor of the release: ${lost}`);
        } catch (error) {
          return [`a cursor of the release is refused: ${Error.isError(error) ? error.message : String(error)}`];
        }
      });
      return (await Promise.all(behind)).flat();
    }),
};

const READY = 'bubbles.bubble.ready.v1';
const readyOf = {
  bubble: aBubble,
  participant_user_ids: ['ada'],
  author_id: 'ada',
  team_id: 'team',
  channel_id: 'channel',
  ready_at: SAMPLE_TIME.toISOString(),
};

/** `created_at`, signature and id of the delivery have samples of their own. */
const delivery: SampleFamily = {
  name: 'what webhooks-dispatcher delivers of an event',
  contract: 'webhook',
  producer: 'webhooks-dispatcher',
  consumers: 'webhook receivers',
  make: async (_, sample) => {
    const told = toldTo(sample, [[READY, readyOf]], 'bubbles-query');
    const receiver = await startReceiver();
    const config = { receivers: { ...CONFIG.receivers, http: true } };
    const dispatcher = await startDispatcher({ clock: fakeClock(SAMPLE_TIME), config });
    try {
      dispatcher.peers.bubble(BUBBLE_ID, { participates: true, bubble: { team_id: 'team', channel_id: 'channel', author_id: 'ada' } });
      await dispatcher.subscribe({ url: receiver.url });
      await tell(dispatcher.service.eventHandlers, told);
      await dispatcher.settle();
      const [first] = receiver.received;
      if (!first) throw new Error('nothing is delivered any more');
      const headerNames = Object.fromEntries(first.headerNames.filter((name) => name.startsWith('X-')).map((name) => [name, true]));
      return { told, headerNames, body: JSON.parse(first.body.toString()) };
    } finally {
      await dispatcher.stop();
      await receiver.close();
    }
  },
};

const POSITION = { createdAt: SAMPLE_TIME, id: 'wh_00000000000000000000000000' };
const SCOPE = ['ada', null];
const listCursors = (define: DefineCursor) => ({ ...webhookCursors(define), ...joinCursors(define) });
const Written = z.record(z.string(), z.string());

const keyOf = ({ bytes }: SampleKeys) => cursorsWith({ current: bytes, previous: null });
const cursors: SampleFamily = {
  name: 'cursors of subscriptions, deliveries and joins',
  contract: 'public',
  producer: 'webhooks-dispatcher and meetings-bot-gateway',
  consumers: 'public clients and their own replicas',
  make: (keys) => {
    const lists = Object.entries(listCursors(keyOf(keys)));
    return Promise.resolve(Object.fromEntries(lists.map(([name, cursor]) => [name, cursor.encode(POSITION, SCOPE)])));
  },
  refusals: (sample, keys) => {
    const texts = Written.parse(sample);
    const faults = Object.entries(listCursors(keyOf(keys))).flatMap(([name, cursor]) => {
      try {
        return lostOf(JSON.parse(JSON.stringify(POSITION)), JSON.parse(JSON.stringify(cursor.decode(texts[name], SCOPE))));
      } catch (error) {
        return [`a cursor of the release for ${name} is refused: ${String(error)}`];
      }
    });
    return Promise.resolve(faults);
  },
};

export const SERVICE_SAMPLES: readonly SampleFamily[] = [reading, delivery, cursors];
