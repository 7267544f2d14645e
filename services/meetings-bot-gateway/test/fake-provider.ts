import type { Snapshot } from '../src/domain/join.ts';
import type { DispatchRequest, Notetaker, Notetakers } from '../src/ports.ts';

interface Run extends Snapshot {
  readonly ref: string;
  readonly joinId: string;
  readonly isGone: boolean;
  /** The provider said so, whatever it says after that. */
  readonly hasEnded: boolean;
  /** It recorded at some time, whatever it says after that. */
  readonly hasRecorded: boolean;
}

export interface FakeProvider {
  readonly notetaker: Notetaker;
  /** It serves every platform. */
  readonly notetakers: Notetakers & { readonly simulator: null; close(): Promise<void> };
  /** Every notetaker that was ever sent. */
  readonly runs: readonly Run[];
  /** The calls it got, by their names, each with what it was about. */
  readonly calls: readonly string[];
  /** Whether it answers, does what it is told without an answer, does not answer at all, or lets every call hang. */
  mode: 'there' | 'loses answers' | 'away' | 'hangs';
  /** Whether its recordings are still made. */
  isPending: boolean;
  /** Lets the calls that hang fail. */
  cut(): void;
  /** What its notetaker of this join comes to. */
  move(joinId: string, to: Partial<Snapshot>): void;
  /** A webhook that tells of a join, or of a run. */
  webhook(
    id: string,
    about: { readonly joinId?: string; readonly ref?: string },
  ): { readonly headers: Record<string, string>; readonly body: string };
}

const SIGNATURE = 'signed by the provider';

/** A provider in this process, which outlives the processes that call it. Its name is that of the provider in the default configuration. */
export const fakeProvider = (): FakeProvider => {
  const runs: Run[] = [];
  const calls: string[] = [];
  const hanging = Promise.withResolvers<never>();
  const runOf = (joinId: string) => runs.findLast((run) => run.joinId === joinId && !run.isGone);
  const change = (ref: string, fields: Partial<Run>) => {
    const at = runs.findIndex((run) => run.ref === ref);
    const run = runs[at];
    if (run !== undefined) runs[at] = { ...run, ...fields };
  };
  const answered = async <T>(call: string, act: () => T): Promise<T> => {
    calls.push(call);
    const { mode } = provider;
    await Promise.resolve();
    if (mode === 'hangs') await hanging.promise;
    if (mode === 'away') throw new Error('socket hang up');
    const answer = act();
    if (mode === 'loses answers') throw new Error('socket hang up');
    return answer;
  };
  const send = (joinId: string) => {
    const adopted = runOf(joinId);
    if (adopted !== undefined) return { ref: adopted.ref, adopted: true };
    const ref = `run-${runs.length + 1}`;
    runs.push({ ref, joinId, isGone: false, hasEnded: false, hasRecorded: false, status: 'dispatched', reason: null, recordedEver: false });
    return { ref, adopted: false };
  };
  const notetaker: Notetaker = {
    name: 'simulator',
    dispatch: ({ joinId }: DispatchRequest) => answered(`dispatch ${joinId}`, () => send(joinId)),
    find: ({ joinId }) => answered(`find ${joinId}`, () => runOf(joinId)?.ref ?? null),
    snapshot: (ref) => answered(`snapshot ${ref}`, () => runs.find((run) => run.ref === ref) ?? null),
    leave: (ref) => answered(`leave ${ref}`, () => change(ref, { isGone: true })),
    recording: (ref) =>
      answered(`recording ${ref}`, () => {
        if (provider.isPending) return 'pending';
        return runs.find((run) => run.ref === ref)?.hasRecorded
          ? { title: null, startedAt: null, durationSeconds: 60, participants: [], open: null }
          : 'none';
      }),
    transcript: (ref) => answered(`transcript ${ref}`, () => 'none'),
    erase: (ref) => answered(`erase ${ref}`, () => undefined),
    verify({ headers, body }) {
      if (headers['x-webhook-signature'] !== SIGNATURE) return null;
      const { id, joinId = null, ref = null } = JSON.parse(Buffer.from(body).toString());
      return { id, joinId, ref };
    },
  };
  const provider: FakeProvider = {
    notetaker,
    notetakers: {
      named: (name) => (name === notetaker.name ? notetaker : null),
      forPlatform: () => notetaker,
      simulator: null,
      close: () => Promise.resolve(),
    },
    runs,
    calls,
    mode: 'there',
    isPending: false,
    cut: () => hanging.reject(new Error('socket hang up')),
    move(joinId, to) {
      for (const { ref, hasEnded, hasRecorded } of runs.filter((run) => run.joinId === joinId))
        change(ref, {
          ...to,
          hasEnded: hasEnded || to.status === 'done' || to.status === 'fatal',
          hasRecorded: hasRecorded || to.status === 'recording' || to.recordedEver === true,
        });
    },
    webhook: (id, about) => ({
      headers: { 'content-type': 'application/json', 'x-webhook-signature': SIGNATURE },
      body: JSON.stringify({ id, ...about }),
    }),
  };
  return provider;
};
