import { describe, expect, it } from '@jest/globals';
import { aJoin, later } from '../../test/builders.ts';
import {
  dispatched,
  ended,
  hinted,
  isFinal,
  isInCall,
  type Join,
  type JoinStatus,
  left,
  lost,
  refunds,
  unsent,
  withSnapshot,
} from './join.ts';

const STATUSES: readonly JoinStatus[] = ['dispatched', 'joining', 'in_waiting_room', 'in_call', 'recording', 'done', 'fatal'];
const RANKS: Readonly<Record<JoinStatus, number>> = {
  dispatched: 0,
  joining: 1,
  in_waiting_room: 2,
  in_call: 3,
  recording: 4,
  done: 5,
  fatal: 5,
};

interface Happening {
  readonly name: string;
  /** Null when it changes nothing. */
  readonly to: (join: Join, now: Date) => Join | null;
}
const told: readonly Happening[] = STATUSES.flatMap((status) =>
  [false, true].map((recordedEver) => ({
    name: `${status}${recordedEver ? ' recorded' : ''}`,
    to: (join: Join, now: Date) => withSnapshot(join, { status, reason: status === 'fatal' ? 'told' : null, recordedEver }, now),
  })),
);
const ours: readonly Happening[] = [
  { name: 'stop', to: (join, now) => ended(join, 'cancelled', now) },
  { name: 'overdue', to: (join, now) => ended(join, 'overdue', now) },
  { name: 'hint', to: hinted },
];
const unanswered: readonly Happening[] = [
  ...ours,
  { name: 'answer', to: (join, now) => (join.work === 'dispatch' ? dispatched(join, 'run', { now, lookAt: now }) : null) },
  { name: 'refusal', to: (join, now) => (join.work === 'dispatch' ? unsent(join, 'refused', now) : null) },
  { name: 'lost answer', to: (join, now) => (join.work === 'dispatch' ? lost(join, 'lost', now) : null) },
  { name: 'claim', to: (join) => (join.work === 'dispatch' ? { ...join, isAsked: true, leaseToken: 'lease' } : null) },
  { name: 'death', to: (join) => ({ ...join, leaseToken: null }) },
  { name: 'leave', to: (join, now) => (join.work === 'leave' ? left(join, now) : null) },
];

const judge = (join: Join): boolean => {
  const ranks = join.history.map(({ status }) => RANKS[status]);
  const ends = join.history.filter(({ status }) => isFinal(status));
  const recorded = join.history.some(({ status }) => status === 'recording');
  return (
    ranks.every((rank, n) => n === 0 || rank > (ranks[n - 1] ?? 0)) &&
    join.status === join.history.at(-1)?.status &&
    ends.length === (isFinal(join.status) ? 1 : 0) &&
    'runningKey' in join === !isFinal(join.status) &&
    (join.fatalReason !== null) === (join.status === 'fatal') &&
    !(recorded && join.status === 'fatal') &&
    isInCall(join.status) === ['in_call', 'recording'].includes(join.status) &&
    // Whoever may be in the call is told to leave before places are given back.
    !(join.work === 'refund' && join.status === 'done') &&
    (join.status !== 'fatal' || refunds({ ...join, teamQuota: 'team' }).includes('team'))
  );
};

/** Every sequence of this length; answers those after which something is wrong. */
const tryAll = (start: Join, alphabet: readonly Happening[], length: number): readonly string[] => {
  const faults: string[] = [];
  const go = (join: Join, path: readonly string[]): void => {
    if (path.length === length) return;
    for (const { name, to } of alphabet) {
      const next = to(join, later(path.length + 1)) ?? join;
      const isSame = isFinal(join.status) && (next.status !== join.status || next.fatalReason !== join.fatalReason);
      if (!judge(next) || isSame) faults.push([...path, name].join(', '));
      go(next, [...path, name]);
    }
  };
  go(start, []);
  return faults;
};

describe('every short sequence', () => {
  it('[MEET-07][MEET-08] of what a provider tells, in any order, with stops and watchdogs between, goes forward and ends once', () => {
    const watched = aJoin({ providerRef: 'run', work: 'watch', isAsked: true });
    expect(tryAll(watched, [...told, ...ours], 4)).toEqual([]);
  });

  it('[MEET-10] of a dispatch with deaths, lost answers and stops between leaves no notetaker behind', () => {
    expect(tryAll(aJoin(), unanswered, 5)).toEqual([]);
    const gone = (join: Join) => join.work === 'refund' && join.isAsked && join.providerRef === null;
    const asked = aJoin({ isAsked: true, leaseToken: null });
    expect(gone(ended(asked, 'cancelled', later(1)) ?? asked)).toBe(false);
  });
});
