import { systemIds } from '@bubbles/kernel/ids.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { type MakeDatabase, onEveryEngine, openedIn } from '../test/engines.ts';
import { createCodes } from './codes.ts';

const LIFE_MS = 600_000;
const flow = { flowId: 'flow-1', secret: 'only this browser has it' };
/** Another code than that one. */
const wrongFor = (code: string) => (code === '000000' ? '000001' : '000000');

const scene = async (make: MakeDatabase, ids = systemIds()) => {
  const clock = fakeClock();
  const database = make();
  const replica = () => openedIn(database, (open) => createCodes({ open, clock, ids }));
  const [codes, other] = [await replica(), await replica()];
  const stored = database.collection('mailed_codes');
  return { clock, codes, other, stored, expiresAt: new Date(clock.now().getTime() + LIFE_MS) };
};

const contract = (make: MakeDatabase) => {
  it('takes the right code once, whichever replica is asked', async () => {
    const { codes, other, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    expect(code).toMatch(/^\d{6}$/);
    expect(await other.check({ ...flow, code: wrongFor(code) })).toBe('wrong');
    expect(await other.check({ ...flow, code })).toBe('right');
    expect(await codes.check({ ...flow, code })).toBe('over');
  });

  it('refuses the sixth try, even with the right code', async () => {
    const { codes, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    for (let attempt = 1; attempt <= 5; attempt += 1) expect(await codes.check({ ...flow, code: wrongFor(code) })).toBe('wrong');
    expect(await codes.check({ ...flow, code })).toBe('over');
  });

  it('counts five of fifty wrong tries that come at once over two replicas', async () => {
    const { codes, other, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 2 ? codes : other).check({ ...flow, code: wrongFor(code) })),
    );
    expect(answers.filter((answer) => answer === 'wrong')).toHaveLength(5);
    expect(answers.filter((answer) => answer === 'over')).toHaveLength(45);
    expect(await codes.check({ ...flow, code })).toBe('over');
  });

  it('has done what the right code is for before the code is spent, whoever finds it spent', async () => {
    const { codes, other, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    let isDone = false;
    const whenRight = async () => {
      await codes.sweep();
      isDone = true;
    };
    const tries = Array.from({ length: 5 }, async (_, i) => [await (i % 2 ? codes : other).check({ ...flow, code, whenRight }), isDone]);
    expect((await Promise.all(tries)).toSorted()).toEqual([...Array(4).fill(['over', true]), ['right', true]]);
    isDone = false;
    const next = await codes.issue({ ...flow, expiresAt });
    await codes.check({ ...flow, code: wrongFor(next), whenRight });
    expect(isDone).toBe(false);
  });

  it('[SIGN-03] does not count tries in which what the right code is for fails, and counts wrong ones all the same', async () => {
    const { codes, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    const away = () => Promise.reject(new Error('away'));
    for (let attempt = 1; attempt <= 6; attempt += 1) await expect(codes.check({ ...flow, code, whenRight: away })).rejects.toThrow('away');
    for (let attempt = 1; attempt <= 4; attempt += 1) expect(await codes.check({ ...flow, code: wrongFor(code) })).toBe('wrong');
    expect(await codes.check({ ...flow, code })).toBe('right');
  });

  it('answers right to one of fifty right tries that come at once', async () => {
    const { codes, other, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? codes : other).check({ ...flow, code })));
    expect(answers.filter((answer) => answer === 'right')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'over')).toHaveLength(49);
  });

  it('is bound to its flow and the secret of that flow', async () => {
    const { codes, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    await codes.issue({ flowId: 'flow-2', secret: 'another', expiresAt });
    expect(await codes.check({ flowId: 'flow-1', secret: 'another', code })).toBe('wrong');
    expect(await codes.check({ flowId: 'flow-3', secret: flow.secret, code })).toBe('over');
    expect(await codes.check({ ...flow, code })).toBe('right');
  });

  it('ends to the millisecond, and is swept then', async () => {
    const { clock, codes, stored, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    await clock.advance(LIFE_MS - 1);
    await codes.sweep();
    expect(await codes.check({ ...flow, code: wrongFor(code) })).toBe('wrong');
    await clock.advance(1);
    expect(await codes.check({ ...flow, code })).toBe('over');
    expect(await stored.count({})).toBe(1);
    await codes.sweep();
    expect(await stored.count({})).toBe(0);
  });

  it('is replaced by the next one of its flow, which has five tries again', async () => {
    const { codes, expiresAt } = await scene(make);
    const first = await codes.issue({ ...flow, expiresAt });
    for (let attempt = 1; attempt <= 5; attempt += 1) await codes.check({ ...flow, code: wrongFor(first) });
    const second = await codes.issue({ ...flow, expiresAt });
    if (second !== first) expect(await codes.check({ ...flow, code: first })).toBe('wrong');
    expect(await codes.check({ ...flow, code: second })).toBe('right');
  });

  it('takes malformed codes as wrong ones', async () => {
    const { codes, expiresAt } = await scene(make);
    await codes.issue({ ...flow, expiresAt });
    for (const code of ['', '12345', '１２３４５６', '{"$gt":""}', 'a'.repeat(10_000)])
      expect(await codes.check({ ...flow, code })).toBe('wrong');
  });

  it('stores neither code nor secret', async () => {
    const { codes, stored, expiresAt } = await scene(make);
    const code = await codes.issue({ ...flow, expiresAt });
    const text = JSON.stringify(await stored.find({}));
    expect(text).not.toContain(flow.secret);
    expect(text).not.toContain(`"${code}"`);
  });
};

describe('mailed codes', () => {
  onEveryEngine(contract);

  it('are uniform: draws that would favour small codes are thrown away', async () => {
    const drawn = [0xffffff, 16_000_000, 15_999_999, 7].map((value) => {
      const bytes = Buffer.alloc(3);
      bytes.writeUIntBE(value, 0, 3);
      return bytes;
    });
    const ids = { ...systemIds(), bytes: () => drawn.shift() ?? Buffer.alloc(3) };
    const { codes, expiresAt } = await scene(memoryDatabase, ids);
    const issued = [await codes.issue({ ...flow, expiresAt }), await codes.issue({ ...flow, expiresAt })];
    expect(issued).toEqual(['999999', '000007']);
  });
});
