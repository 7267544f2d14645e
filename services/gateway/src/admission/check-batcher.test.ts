import type { CheckResult, CredentialCheck } from '@bubbles/contracts/internal/identity.ts';
import { callHeaders, startSpan, traceparentOf } from '@bubbles/kernel/trace.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CheckBatcher, type CheckedRequest } from './check-batcher.ts';

const aCheck = (h: string): CredentialCheck => ({ h, jwt: null, aud: 'bubbles-query', accepts: ['pat'] });
const answerTo = ({ h }: CredentialCheck): CheckResult => ({
  h,
  outcome: 'allowed',
  assertion: `of ${h}`,
  limit: 120,
  remaining: 1,
  reset_seconds: 1,
});

const aRequest = (): CheckedRequest => ({ requestId: 'req-12345678', span: startSpan(), checkedInTrace: null });

interface Call {
  /** Of the call to identity. */
  readonly headers: Readonly<Record<string, string>>;
  readonly checks: readonly CredentialCheck[];
  answer(answers?: readonly CheckResult[]): void;
  fail(): void;
}

/** An identity whose answers come when the test says so. */
const heldIdentity = (atEndOfTurn = (act: () => void): void => act()) => {
  const calls: Call[] = [];
  const sizes: number[] = [];
  const clock = fakeClock();
  const batcher = new CheckBatcher({
    send: (checks) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly CheckResult[]>();
      calls.push({
        headers: callHeaders(),
        checks,
        answer: (answers = checks.map(answerTo)) => resolve(answers),
        fail: () => reject(new Error('down')),
      });
      return { answers: promise, isSilent: () => true };
    },
    perCall: { observe: (size) => void sizes.push(size) },
    clock,
    atEndOfTurn,
  });
  const submit = (h: string, { caller = 'somebody', known = false, request = aRequest(), onSilence = (): void => undefined } = {}) =>
    batcher.submit(aCheck(h), { caller, known, request }, onSilence);
  return { submit, calls, sizes, clock };
};

const settled = async () => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

describe('check batcher', () => {
  it('[AUTH-01] sends at once when nothing is under way, and what comes meanwhile together', async () => {
    const { submit, calls, sizes } = heldIdentity();
    const first = submit('a');
    const others = ['b', 'c', 'd'].map((h) => submit(h));
    expect(calls.length).toBe(1);
    calls[0]?.answer();
    await first;
    await settled();
    expect(calls[1]?.checks.map(({ h }) => h)).toEqual(['b', 'c', 'd']);
    calls[1]?.answer();
    expect((await Promise.all(others)).map((answer) => answer.h)).toEqual(['b', 'c', 'd']);
    expect(sizes).toEqual([1, 3]);
  });

  it('[AUTH-01] sends what comes in one turn of the event loop together', async () => {
    const ends: (() => void)[] = [];
    const { submit, calls } = heldIdentity((act) => void ends.push(act));
    const answers = ['a', 'b', 'c'].map((h) => submit(h));
    expect([calls.length, ends.length]).toEqual([0, 1]);
    ends[0]?.();
    expect(calls.map(({ checks }) => checks.map(({ h }) => h))).toEqual([['a', 'b', 'c']]);
    calls[0]?.answer();
    expect((await Promise.all(answers)).map(({ h }) => h)).toEqual(['a', 'b', 'c']);
  });

  it('[GEN-09] a call is of the trace of the first request that it carries, and the others know which', async () => {
    const { submit, calls } = heldIdentity();
    const [a, b, c] = [aRequest(), { ...aRequest(), requestId: 'req-of-second' }, aRequest()];
    const all = [submit('a', { request: a }), submit('b', { request: b }), submit('c', { request: c })];
    calls[0]?.answer();
    await settled();
    calls[1]?.answer();
    await Promise.all(all);
    expect(calls.map(({ headers }) => headers)).toEqual([
      { 'x-request-id': a.requestId, traceparent: traceparentOf(a.span) },
      { 'x-request-id': 'req-of-second', traceparent: traceparentOf(b.span) },
    ]);
    expect([a, b, c].map(({ checkedInTrace }) => checkedInTrace)).toEqual([null, null, b.span.traceId]);
  });

  it('[AUTH-01] carries at most 256 a call, and opens a second call only for a full one', () => {
    const { submit, calls, sizes } = heldIdentity();
    for (let index = 0; index < 1 + 255; index += 1) void submit(`${index}`);
    expect(calls.length).toBe(1);
    void submit('fills the second');
    for (let index = 0; index < 600; index += 1) void submit(`more ${index}`);
    expect(sizes).toEqual([1, 256]);
  });

  it('[GEN-14] credentials that were good go before garbage, which keeps a part of each call; callers take turns', async () => {
    const { submit, calls } = heldIdentity();
    for (let index = 0; index < 1 + 256 + 100; index += 1) void submit(`garbage ${index}`, { caller: 'flooder' });
    void submit('newcomer', { caller: 'elsewhere' });
    for (let index = 0; index < 300; index += 1) void submit(`good ${index}`, { caller: `${index}`, known: true });
    calls[0]?.answer();
    await settled();
    const sent = calls[2]?.checks.map(({ h }) => h) ?? [];
    expect([sent.length, sent.filter((h) => h.startsWith('good')).length, sent.indexOf('newcomer')]).toEqual([256, 192, 193]);
  });

  it('[ERR-05] what waited too long is not sent any more', async () => {
    const { submit, calls, clock } = heldIdentity();
    const first = submit('first');
    const late = submit('late');
    await clock.advance(1500);
    const inTime = submit('in time');
    await clock.advance(501);
    calls[0]?.answer();
    await first;
    await expect(late).rejects.toThrow('Too many credentials wait');
    expect(calls[1]?.checks.map(({ h }) => h)).toEqual(['in time']);
    calls[1]?.answer();
    expect(await inTime).toMatchObject({ h: 'in time' });
  });

  it('[ERR-05] says that it may wait in vain to those in a silent call and to those behind it', async () => {
    const { submit, calls } = heldIdentity();
    const told = ['a', 'b'].map((h) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      void submit(h, { onSilence: resolve });
      return promise;
    });
    await Promise.all(told);
    expect(calls.map(({ checks }) => checks.map(({ h }) => h))).toEqual([['a']]);
  });

  it('[AUTH-05] a failed call fails its own checks and no other', async () => {
    const { submit, calls } = heldIdentity();
    const first = submit('a');
    const second = submit('b');
    calls[0]?.fail();
    await expect(first).rejects.toThrow('down');
    await settled();
    calls[1]?.answer();
    expect(await second).toMatchObject({ h: 'b' });
  });

  it.each([
    ['one too few', (answers: readonly CheckResult[]) => answers.slice(1)],
    ['one too many', (answers: readonly CheckResult[]) => [...answers, ...answers.slice(0, 1)]],
    ['two exchanged', (answers: readonly CheckResult[]) => answers.toReversed()],
    ['shifted by one', (answers: readonly CheckResult[]) => [...answers.slice(1), ...answers.slice(0, 1)]],
  ])('[AUTH-05] answers out of step (%s) count for nobody', async (_, disturb) => {
    const { submit, calls } = heldIdentity();
    calls.length = 0;
    void submit('first');
    const others = ['a', 'b', 'c'].map((h) => submit(h));
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
          const { submit, calls } = heldIdentity();
          const open = new Set<Call>();
          const results: Promise<boolean>[] = [];
          const act: Record<string, () => unknown> = {
            submit: () => {
              const h = `${results.length}`;
              results.push(
                submit(h).then(
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
