import { type EventDefinition, eventHandler } from '@bubbles/bus/bus.ts';
import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { outgoing } from '@bubbles/bus/outgoing.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createAggregateStore, OUTBOX_INDEX, type Stored } from '@bubbles/store/aggregates.ts';
import { createOutboxRelay } from '@bubbles/store/outbox-relay.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { countedBus, createOutboxWatch, settling } from './settle.ts';

interface Thing {
  readonly id: string;
}

const definition = (type: string): EventDefinition<Thing> => ({
  type,
  publisher: 'maker',
  consumers: ['reader'],
  schema: z.object({ id: z.string() }),
});
const Made = definition('maker.thing.made.v1');
const Lost = definition('maker.thing.lost.v1');

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** A service whose relay knows `Made` alone, and a consumer of both. */
const setUp = async ({ relays = true, partial = false } = {}) => {
  const [clock, log, ids] = [fakeClock(new Date('2026-03-01T12:00:00.000Z')), memoryLog(), systemIds()];
  const bus = countedBus(createMemoryBus({ clock, log }));
  const store = openEmbedded({ path: ':memory:', log });
  const seen = createOutboxWatch();
  const things = seen.watched('maker', store.database('maker')).collection<Stored<Thing>>('things');
  await things.ensureIndexes([OUTBOX_INDEX]);
  const consumed: string[] = [];
  for (const event of [Made, Lost])
    await bus.consume(
      'reader',
      eventHandler(event, ({ id }) => Promise.resolve(void consumed.push(id))),
    );
  const relay = createOutboxRelay({ collections: relays ? [things] : [], definitions: [Made], bus, clock, ids, log });
  closing.push(() => relay.stop().then(() => store.close()));
  const relayAll = async () => {
    relay.poke();
    await relay.idle();
  };
  const settle = settling({ bus, parts: () => [relayAll], waiting: seen.waiting, isPartial: () => partial });
  return { settle, things: createAggregateStore<Thing>(things, { clock, ids, source: 'maker' }), consumed };
};

describe('settling', () => {
  it('answers when every outbox is empty', async () => {
    const { settle, things, consumed } = await setUp();
    await things.insert({ id: 'a' }, [outgoing(Made, { id: 'a' })]);
    await settle('facts');
    expect(consumed).toEqual(['a']);
  });

  it('fails while an outbox holds an event that its relay does not know, and names it', async () => {
    const { settle, things } = await setUp();
    await things.insert({ id: 'a' }, [outgoing(Lost, { id: 'a' })]);
    await expect(settle('all')).rejects.toThrow(/maker\.thing\.lost\.v1 in maker\/things/);
    await expect(settle('facts')).rejects.toThrow(/no relay sends it/);
  });

  it('fails while an outbox holds an event and nobody relays its collection', async () => {
    const { settle, things } = await setUp({ relays: false });
    await things.insert({ id: 'a' }, [outgoing(Made, { id: 'a' })]);
    await expect(settle('all')).rejects.toThrow(/maker\.thing\.made\.v1 in maker\/things/);
  });

  it('waits for none of it while a service is down', async () => {
    const { settle, things } = await setUp({ partial: true });
    await things.insert({ id: 'a' }, [outgoing(Lost, { id: 'a' })]);
    await expect(settle('all')).resolves.toBeUndefined();
  });

  it('says what keeps it after its limit', async () => {
    const settle = settling({
      bus: countedBus(createMemoryBus({ clock: fakeClock(new Date(0)), log: memoryLog() })),
      parts: () => [() => new Promise(() => null)],
      waiting: () => Promise.resolve(new Map()),
      isPartial: () => false,
    });
    await expect(settle('all', 1)).rejects.toThrow('Something is still in flight');
  });
});
