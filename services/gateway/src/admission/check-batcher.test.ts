import type { CheckAnswer, CredentialCheck } from '@bubbles/contracts/internal/checks.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkBatcher } from './check-batcher.ts';

const aCheck = (h: string): CredentialCheck => ({ h, jwt: null, aud: 'bubbles-query', accepts: ['pat'] });
const answerTo = ({ h }: CredentialCheck): CheckAnswer => ({
  h,
  outcome: 'allowed',
  assertion: `of ${h}`,
  limit: 120,
  remaining: 1,
  reset_seconds: 1,
});

interface Call {
  readonly checks: readonly CredentialCheck[];
  answer(answers?: readonly CheckAnswer[]): void;
  fail(): void;
}

/** An identity whose answers come when the test says so. */
const heldIdentity = () => {
  const calls: Call[] = [];
  const sizes: number[] = [];
  const batcher = checkBatcher({
    send: (checks) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly CheckAnswer[]>();
      calls.push({ checks, answer: (answers = checks.map(answerTo)) => resolve(answers), fail: () => reject(new Error('down')) });
      return promise;
    },
    onBatch: (size) => sizes.push(size),
  });
  return { batcher, calls, sizes };
};

const settled = async () => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

describe('check batcher', () => {
  it('[AUTH-01] sends at once when nothing is under way, and what comes meanwhile together', async () => {
    const { batcher, calls, sizes } = heldIdentity();
    const first = batcher.submit(aCheck('a'));
    const others = ['b', 'c', 'd'].map((h) => batcher.submit(aCheck(h)));
    expect(calls.length).toBe(1);
    calls[0]?.answer();
    await first;
    await settled();
    expect(calls[1]?.checks.map(({ h }) => h)).toEqual(['b', 'c', 'd']);
    calls[1]?.answer();
    expect((await Promise.all(others)).map((answer) => answer.h)).toEqual(['b', 'c', 'd']);
    expect(sizes).toEqual([1, 3]);
  });

  it('[AUTH-01] carries at most 256 a call, and opens a second call only for a full one', () => {
    const { batcher, calls, sizes } = heldIdentity();
    for (let index = 0; index < 1 + 255; index += 1) void batcher.submit(aCheck(`${index}`));
    expect(calls.length).toBe(1);
    void batcher.submit(aCheck('fills the second'));
    for (let index = 0; index < 600; index += 1) void batcher.submit(aCheck(`more ${index}`));
    expect(sizes).toEqual([1, 256]);
  });

  it('[AUTH-05] a failed call fails its own checks and no other', async () => {
    const { batcher, calls } = heldIdentity();
    const first = batcher.submit(aCheck('a'));
    const second = batcher.submit(aCheck('b'));
    calls[0]?.fail();
    await expect(first).rejects.toThrow('down');
    await settled();
    calls[1]?.answer();
    expect(await second).toMatchObject({ h: 'b' });
  });

  it.each([
    ['one too few', (answers: readonly CheckAnswer[]) => answers.slice(1)],
    ['one too many', (answers: readonly CheckAnswer[]) => [...answers, ...answers.slice(0, 1)]],
    ['two exchanged', (answers: readonly CheckAnswer[]) => answers.toReversed()],
    ['shifted by one', (answers: readonly CheckAnswer[]) => [...answers.slice(1), ...answers.slice(0, 1)]],
  ])('[AUTH-05] answers out of step (%s) count for nobody', async (_, disturb) => {
    const { batcher, calls } = heldIdentity();
    calls.length = 0;
    void batcher.submit(aCheck('first'));
    const others = ['a', 'b', 'c'].map((h) => batcher.submit(aCheck(h)));
    calls[0]?.answer();
    await settled();
    calls[1]?.answer(disturb((calls[1]?.checks ?? []).map(answerTo)));
    const outcomes = await Promise.allSettled(others);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('[AUTH-05] whatever the timing, everybody gets the own answer or a failure', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('submit', 'submit', 'submit', 'answer', 'fail', 'wait'), { maxLength: 300 }),
        async (steps) => {
          const { batcher, calls } = heldIdentity();
          const open = new Set<Call>();
          const results: Promise<boolean>[] = [];
          const act: Record<string, () => unknown> = {
            submit: () => {
              const h = `${results.length}`;
              results.push(
                batcher.submit(aCheck(h)).then(
                  (answer) => answer.h === h && 'assertion' in answer && answer.assertion === `of ${h}`,
                  () => true,
                ),
              );
            },
            answer: () => calls.find((call) => !open.has(call) && open.add(call))?.answer(),
            fail: () => calls.find((call) => !open.has(call) && open.add(call))?.fail(),
            wait: () => settled(),
          };
          for (const step of steps) await act[step]?.();
          while (calls.some((call) => !open.has(call))) {
            act['answer']?.();
            await settled();
          }
          expect(await Promise.all(results)).toEqual(results.map(() => true));
        },
      ),
      { numRuns: 100 },
    );
  });
});
