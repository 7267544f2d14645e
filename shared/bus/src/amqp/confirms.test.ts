import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import type { ConfirmChannel } from 'amqplib';
import { createConfirms, type OutgoingMessage } from './confirms.ts';

const MESSAGE: OutgoingMessage = {
  exchange: 'bubbles.events',
  routingKey: 'a.b.c.v1',
  body: Buffer.from('{}'),
  messageId: 'm',
  mandatory: true,
};

type Confirm = (error: unknown) => void;

const setUp = () => {
  const clock = fakeClock();
  const sent: { readonly options: Readonly<Record<string, unknown>>; readonly confirm: Confirm }[] = [];
  const givenUp: ConfirmChannel[] = [];
  // Only `publish` is called.
  const channel = {
    publish: (_exchange: string, _key: string, _body: Buffer, options: Readonly<Record<string, unknown>>, confirm: Confirm) => {
      sent.push({ options, confirm });
      return true;
    },
  } as unknown as ConfirmChannel;
  const state = { blocked: false };
  const awaiting = createConfirms({
    clock,
    log: memoryLog(),
    limitMs: 30_000,
    isBlocked: () => state.blocked,
    giveUp: (lost) => givenUp.push(lost),
  });
  const send = () => {
    const { confirmed } = awaiting.send(channel, MESSAGE);
    const result = { value: 'pending' };
    void confirmed.then(
      () => Object.assign(result, { value: 'confirmed' }),
      (error: Error) => Object.assign(result, { value: `${error.name}: ${error.message}` }),
    );
    return result;
  };
  return { clock, sent, givenUp, channel, state, awaiting, send };
};

describe('confirms', () => {
  it('sends persistent, with the id of the event, and resolves on the confirm', async () => {
    const { clock, sent, send } = setUp();
    const result = send();
    expect(sent[0]?.options).toMatchObject({
      persistent: true,
      mandatory: true,
      messageId: 'm',
      contentType: 'application/cloudevents+json',
    });
    sent[0]?.confirm(null);
    await clock.advance(0);
    expect(result.value).toBe('confirmed');
  });

  it('refuses what the broker nacked, what it returned, and what its channel lost', async () => {
    const { clock, sent, awaiting, send } = setUp();
    const results = [send(), send(), send()];
    sent[0]?.confirm(new Error('message nacked'));
    awaiting.returned(sent[1]?.options['correlationId']);
    sent[1]?.confirm(null);
    sent[2]?.confirm(new Error('channel closed'));
    await clock.advance(0);
    expect(results.map(({ value }) => value)).toEqual([
      'BusUnavailable: the broker did not take the message',
      'BusUnavailable: no queue takes a.b.c.v1',
      'BusUnavailable: the broker did not take the message',
    ]);
  });

  it('tells two sends of one event apart when only one is returned', async () => {
    const { clock, sent, awaiting, send } = setUp();
    const [first, second] = [send(), send()];
    awaiting.returned(sent[1]?.options['correlationId']);
    for (const { confirm } of sent) confirm(null);
    await clock.advance(0);
    expect([first.value, second.value]).toEqual(['confirmed', 'BusUnavailable: no queue takes a.b.c.v1']);
  });

  it('gives the channel up when a confirm does not come for 30 s, with all that waits on it', async () => {
    const { clock, givenUp, channel, send } = setUp();
    const first = send();
    await clock.advance(20_000);
    const second = send();
    await clock.advance(9_000);
    expect([first.value, second.value]).toEqual(['pending', 'pending']);
    await clock.advance(1_000);
    expect(first.value).toBe('BusUnavailable: the broker did not confirm in time');
    expect(second.value).toBe('BusUnavailable: the broker did not confirm in time');
    expect(givenUp).toEqual([channel]);
  });

  it('does not count the time while the broker takes no messages', async () => {
    const { clock, state, sent, send } = setUp();
    const result = send();
    state.blocked = true;
    for (let second = 0; second < 100; second += 1) await clock.advance(1000);
    expect(result.value).toBe('pending');
    state.blocked = false;
    sent[0]?.confirm(null);
    await clock.advance(0);
    expect(result.value).toBe('confirmed');
  });
});
