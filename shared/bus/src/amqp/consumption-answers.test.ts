import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { aMessage, startConsumption } from '../../test/fake-consumption.ts';

const SUSPECT = 2;

/** From the first message in single mode to prefetching, and back over a suspect: every answer there is. */
const ANSWERS = [
  { at: 'the first prefetch', frozenAt: 'prefetch', before: 'start' },
  { at: 'the first consume', frozenAt: 'consume', before: 'start' },
  { at: 'the cancel of single mode', frozenAt: 'cancel', before: 'message' },
  { at: 'the prefetch of many', frozenAt: 'prefetch', before: 'message' },
  { at: 'the consume of many', frozenAt: 'consume', before: 'message' },
  { at: 'the cancel over a suspect', frozenAt: 'cancel', before: 'suspect' },
  { at: 'the prefetch of one', frozenAt: 'prefetch', before: 'suspect' },
  { at: 'the consume of one', frozenAt: 'consume', before: 'suspect' },
] as const;

describe.each(ANSWERS)('consumption whose broker is frozen at $at', ({ frozenAt, before }) => {
  /** Frozen there, with what has been delivered until then acknowledged. */
  const frozenWorld = async () => {
    const world = startConsumption();
    const { consumption, state, deliver } = world;
    world.auto.ack = true;
    const freeze = () => {
      state.frozenAt = frozenAt;
    };
    if (before === 'start') freeze();
    const started = consumption.start();
    await setImmediate();
    if (before === 'start') return { ...world, started };
    if (before === 'message') freeze();
    deliver(aMessage(1));
    await setImmediate();
    if (before === 'message') return { ...world, started };
    freeze();
    deliver(aMessage(2, SUSPECT));
    await setImmediate();
    return { ...world, started };
  };
  const acksOf = (calls: readonly string[]) => calls.filter((call) => call.startsWith('ack')).length;

  it.each([
    ['messages', [aMessage(11), aMessage(12), aMessage(13)]],
    ['suspects', [aMessage(11, SUSPECT), aMessage(12, SUSPECT)]],
    ['mixture', [aMessage(11, SUSPECT), aMessage(12), aMessage(13, SUSPECT), aMessage(14)]],
  ])('consumes the queue once and keeps none of the %s that come with the answer', async (_what, messages) => {
    const { calls, consumers, thaw, started, deliver } = await frozenWorld();
    // Nobody is delivered to before the broker has been asked to.
    const delivered = consumers.size === 0 ? [] : messages;
    const acksBefore = acksOf(calls);
    await thaw(...delivered);
    await started;
    await setImmediate();
    expect(consumers.size).toBe(1);
    const settled = acksOf(calls) - acksBefore + calls.filter((call) => call.startsWith('nack')).length;
    expect(settled).toBeGreaterThanOrEqual(delivered.length);
    const consumed = calls.filter((call) => call.startsWith('consume')).length;
    const ended = calls.filter((call) => call.startsWith('cancel'));
    expect(consumed - ended.length).toBe(1);
    expect(new Set(ended).size).toBe(ended.length);
    const acksOfAll = acksOf(calls);
    deliver(aMessage(20));
    await setImmediate();
    expect(acksOf(calls)).toBe(acksOfAll + 1);
  });

  it('is stopped without a new consumption when the answer comes', async () => {
    const { calls, consumers, thaw, consumption, started } = await frozenWorld();
    const stopped = consumption.stop();
    await setImmediate();
    await thaw();
    await Promise.all([started, stopped]);
    await setImmediate();
    expect([...consumers.keys()]).toEqual([]);
    expect(calls.at(-1)).toMatch(/^cancel|^ack/);
  });

  it('answers nothing when its channel goes instead of an answer', async () => {
    const { calls, channel, consumption } = await frozenWorld();
    channel.emit('close');
    const callsBefore = calls.length;
    await consumption.stop();
    expect(calls).toHaveLength(callsBefore);
  });
});
