import { describe, expect, it } from '@jest/globals';
import type { NotetakerError } from '../src/ports.ts';
import { inWorld, type NotetakerWorld, PASSCODE, PROVIDER_KEY, type Provider, request, type WireWorld } from './notetaker.contract.ts';
import { WIRE_FAULTS, type WireFault } from './provider-server.ts';

const SHORT_MS = 50;

const faultOf = async (call: Promise<unknown>): Promise<NotetakerError> =>
  call.then(
    (answer) => {
      throw new Error(`it answered ${JSON.stringify(answer)}`);
    },
    (error: NotetakerError) => error,
  );

const wireOf = ({ wire }: NotetakerWorld): WireWorld => {
  if (wire === null) throw new Error('it is not called over HTTP');
  return wire;
};

const describeFaults = ({ open, unknownRef }: Provider): void => {
  const within = inWorld(open);
  const WAITS: readonly string[] = ['too many requests', 'a fault of its own'];
  const AT_ONCE = Object.keys(WIRE_FAULTS).filter((fault) => fault !== 'no answer');
  const FAULTS = [...AT_ONCE, 'wrong key', 'capacity'] as readonly (WireFault | 'wrong key' | 'capacity')[];

  it.each(FAULTS)('[MEET-10] takes %s for something that may pass, in every call, and tells no secret', (fault) =>
    within(async (world) => {
      const wire = wireOf(world);
      const { notetaker } = world;
      const { ref } = await notetaker.dispatch(request());
      wire.fail(fault);
      const another = request({ joinId: 'mj_2' });
      const dispatches = [() => notetaker.dispatch(another), () => notetaker.dispatch({ ...another, tries: 2 })];
      const reads = [
        () => notetaker.find(another),
        () => notetaker.snapshot(ref),
        () => notetaker.recording(ref),
        () => notetaker.transcript(ref),
      ];
      const { erase } = notetaker;
      // What providers tell of these differs too much to know nonsense from it.
      const writes = fault === 'nonsense' ? [] : [() => notetaker.leave(ref), ...(erase ? [() => erase(ref)] : [])];
      for (const call of fault === 'capacity' ? dispatches : [...dispatches, ...reads, ...writes]) {
        const error = await faultOf(call());
        expect([error.name, error.kind]).toEqual(['NotetakerError', 'transient']);
        if (WAITS.includes(fault)) expect(error.retryAfterSeconds).toBe(7);
        expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toMatch(
          new RegExp(`${PROVIDER_KEY}|${PASSCODE}|abc-defg-hij`),
        );
      }
      expect(wire.told()).not.toMatch(new RegExp(`${PROVIDER_KEY}|${PASSCODE}|abc-defg-hij|blocked|throttled`));
      wire.fail(null);
      await notetaker.dispatch({ ...another, tries: 3 });
      expect(await world.sent()).toEqual(['mj_1', 'mj_2']);
    }),
  );

  it('[MEET-10] adopts the notetaker whose dispatch was answered to nobody', () =>
    within(async (world) => {
      const wire = wireOf(world);
      wire.fail('an answer that is lost');
      expect((await faultOf(world.notetaker.dispatch(request()))).kind).toBe('transient');
      wire.fail(null);
      // It may have looked for one first.
      const isSent = (await world.sent()).length > 0;
      const { ref, adopted } = await world.notetaker.dispatch(request({ tries: 1 }));
      expect([ref, adopted]).toEqual([await world.notetaker.find(request()), isSent]);
      expect(await world.sent()).toEqual(['mj_1']);
    }));

  it('[MEET-10] waits for no answer longer than its limit', () =>
    inWorld(
      open,
      SHORT_MS,
    )(async (world) => {
      wireOf(world).fail('no answer');
      const error = await faultOf(world.notetaker.snapshot(unknownRef));
      expect(error.kind).toBe('transient');
      expect(wireOf(world).outcomes()).toContain('timeout');
    }));

  it('counts its calls by outcome', () =>
    within(async (world) => {
      const wire = wireOf(world);
      const { ref } = await world.notetaker.dispatch(request());
      expect(new Set(wire.outcomes())).toEqual(new Set(['ok']));
      const faults = {
        html: 'nonsense',
        'too many requests': 'rate_limited',
        'a fault of its own': 'failed',
        'wrong key': 'unauthorized',
      } as const;
      // The names of the literal.
      for (const fault of Object.keys(faults) as (keyof typeof faults)[]) {
        wire.fail(fault);
        await faultOf(world.notetaker.snapshot(ref));
        expect(wire.outcomes().at(-1)).toBe(faults[fault]);
      }
    }));
};

const forgeries = (signature: string): readonly string[] => {
  const other = signature[12] === '0' ? '1' : '0';
  return [
    `${signature.slice(0, 12)}${other}${signature.slice(13)}`,
    '',
    '=',
    signature.slice(0, -4),
    `${signature}AAAA`,
    'v1,',
    'sha256=',
    'ÿ',
  ];
};

const describeWebhooks = ({ open }: Provider): void => {
  const within = inWorld(open);
  /** The world with a run that has begun. */
  const withRun = (test: (world: NotetakerWorld, wire: WireWorld, ref: string) => Promise<void> | void) =>
    within(async (world) => {
      const { ref } = await world.notetaker.dispatch(request());
      await world.move('mj_1', 'joining');
      await test(world, wireOf(world), ref);
    });

  it('believes its own webhooks, which name the run, and tells repeats by their id', () =>
    withRun(async ({ notetaker, move }, wire, ref) => {
      const webhook = wire.webhook('mj_1');
      const event = notetaker.verify(webhook);
      expect([event?.joinId, event?.ref].some((named) => named === 'mj_1' || named === ref)).toBe(true);
      expect(notetaker.verify(webhook)).toEqual(event);
      await move('mj_1', 'in_call');
      expect(notetaker.verify(wire.webhook('mj_1'))?.id).not.toBe(event?.id);
    }));

  it('believes no other', () =>
    withRun(({ notetaker }, wire) => {
      const { headers, body } = wire.webhook('mj_1');
      expect(notetaker.verify({ headers, body })).not.toBeNull();
      expect(notetaker.verify({ headers: {}, body })).toBeNull();
      const changed = Buffer.from(body);
      changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
      expect(notetaker.verify({ headers, body: changed })).toBeNull();
      const signatures = Object.entries(headers).filter(([name]) => name.includes('signature'));
      for (const [name, signature = ''] of signatures)
        for (const forged of forgeries(signature)) expect(notetaker.verify({ headers: { ...headers, [name]: forged }, body })).toBeNull();
    }));

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['another shape', '{"event": 7, "data": {"bot": [], "meeting": "x"}}'],
    ['a prototype', '{"__proto__": {"bot_id": "x"}, "constructor": {"prototype": {}}}'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x22])],
    ['deep nesting', '['.repeat(200_000)],
    ['megabytes', `"${'a'.repeat(10 * 1024 * 1024)}"`],
  ])('names no run for a body of %s, signed or not', (_name, odd) =>
    withRun(({ notetaker }, wire) => {
      const body = Buffer.from(odd);
      const event = notetaker.verify(wire.sign(body));
      expect([event?.joinId ?? null, event?.ref ?? null]).toEqual([null, null]);
      expect(notetaker.verify({ headers: wire.webhook('mj_1').headers, body })).toBeNull();
      expect(notetaker.verify({ headers: {}, body })).toBeNull();
    }),
  );
};

/** What holds for every provider that is called over HTTP and sends webhooks. */
export const describeWire = (provider: Provider): void =>
  describe(`${provider.name} on the wire`, () => {
    describeFaults(provider);
    describeWebhooks(provider);
  });
