import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aJoin, joinAt, later, NOON } from '../../test/builders.ts';
import {
  bubbleIdOf,
  CANCELLED,
  captured,
  captureLater,
  dispatched,
  ended,
  hinted,
  isFinal,
  isInCall,
  type JoinStatus,
  left,
  lost,
  mayMove,
  notAhead,
  refunds,
  unsent,
  watchedAgain,
  withRequester,
  withSnapshot,
} from './join.ts';

const STATUSES: readonly JoinStatus[] = ['dispatched', 'joining', 'in_waiting_room', 'in_call', 'recording', 'done', 'fatal'];
const OPEN = STATUSES.filter((status) => !isFinal(status));

describe('a join', () => {
  it.each(OPEN)('[MEET-07] goes from %s to any later status and to no other', (from) => {
    const reached = STATUSES.filter((to) => mayMove(from, to));
    expect(reached).toEqual(STATUSES.slice(STATUSES.indexOf(from) + 1));
  });

  it.each(['done', 'fatal'] as const)('[MEET-07] is over when it is %s', (status) => {
    expect(STATUSES.filter((to) => mayMove(status, to))).toEqual([]);
  });

  it('[MEET-08] has its notetaker in the call while it is in_call or recording', () => {
    expect(STATUSES.filter(isInCall)).toEqual(['in_call', 'recording']);
  });

  it('is fatal when it ended without a recording, whatever the provider calls it', () => {
    const over = withSnapshot(joinAt('in_call'), { status: 'done', reason: null, recordedEver: false }, NOON);
    expect(over).toMatchObject({ status: 'fatal', fatalReason: 'notetaker_error', work: 'refund' });
  });

  it('is done when the provider failed after it had recorded', () => {
    const over = withSnapshot(joinAt('recording'), { status: 'fatal', reason: 'process_died', recordedEver: false }, NOON);
    expect(over).toMatchObject({ status: 'done', fatalReason: null, work: 'capture', dueAt: NOON });
  });

  it('remembers that the host denied it to record, until it records or ends', () => {
    const told = withSnapshot(joinAt('in_call'), { status: 'in_call', reason: null, recordedEver: false, isDenied: true }, NOON);
    expect(told).toMatchObject({ status: 'in_call', isDenied: true });
    const over = told && withSnapshot(told, { status: 'fatal', reason: null, recordedEver: false }, NOON);
    expect(over).toMatchObject({ status: 'fatal', fatalReason: 'recording_permission_denied' });
  });

  it('remembers since when its notetaker is leaving, while it is', () => {
    const leaving = { status: 'recording', reason: null, recordedEver: true, isLeaving: true } as const;
    const first = withSnapshot(joinAt('recording'), leaving, later(1)) ?? joinAt('recording');
    expect(first.leavingSince).toEqual(later(1));
    expect(withSnapshot(first, leaving, later(2))).toBeNull();
    expect(withSnapshot(first, { ...leaving, isLeaving: false }, later(2))?.leavingSince).toBeNull();
  });

  it('[MEET-07] only goes forward, ends once, and frees its meeting then, whatever is told in whatever order', () => {
    const told = fc.record({
      status: fc.constantFrom(...STATUSES),
      recordedEver: fc.boolean(),
      reason: fc.constantFrom(null, 'entry_denied'),
    });
    fc.assert(
      fc.property(fc.array(told, { maxLength: 12 }), (snapshots) => {
        let join = aJoin({ providerRef: 'run', work: 'watch' });
        for (const [n, snapshot] of snapshots.entries()) {
          const before = join;
          join = withSnapshot(join, snapshot, later(n)) ?? join;
          if (isFinal(before.status)) expect(join).toBe(before);
        }
        const ranks = join.history.map(({ status }) => STATUSES.indexOf(status));
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
        expect(join.history.filter(({ status }) => isFinal(status)).length).toBe(isFinal(join.status) ? 1 : 0);
        expect('runningKey' in join).toBe(!isFinal(join.status));
        expect(join.fatalReason === null).toBe(join.status !== 'fatal');
      }),
    );
  });
});

describe('a join that is ended', () => {
  it('is fatal with the reason, and its notetaker must leave', () => {
    expect(ended(joinAt('in_waiting_room'), 'cancelled', NOON)).toMatchObject({ status: 'fatal', fatalReason: 'cancelled', work: 'leave' });
  });

  it('is done when it recorded, and captured once the notetaker has left', () => {
    const over = ended(joinAt('recording'), 'cancelled', NOON);
    expect(over).toMatchObject({ status: 'done', fatalReason: null, work: 'leave' });
    expect(over && left(over, NOON)).toMatchObject({ status: 'done', work: 'capture' });
  });

  it('sends nobody when nobody was sent', () => {
    expect(ended(aJoin(), 'cancelled', NOON)).toMatchObject({ status: 'fatal', work: 'refund' });
  });

  it('lets a notetaker leave whose dispatch was under way', () => {
    const over = ended(aJoin({ leaseToken: 'lease', isAsked: true }), 'cancelled', NOON);
    expect(over).toMatchObject({ status: 'fatal', work: 'dispatch', leaseToken: 'lease' });
    expect(over && dispatched(over, 'run', { now: NOON, lookAt: NOON })).toMatchObject({
      status: 'fatal',
      work: 'leave',
      providerRef: 'run',
    });
  });

  it('looks for a notetaker whose dispatch was not answered, whoever ends it', () => {
    expect(ended(aJoin({ isAsked: true, tries: 1 }), 'cancelled', NOON)).toMatchObject({ status: 'fatal', work: 'leave', tries: 0 });
    expect(lost(aJoin({ isAsked: true, leaseToken: 'lease' }), 'away', NOON)).toMatchObject({ fatalReason: 'away', work: 'leave' });
    const over = ended(aJoin({ isAsked: true, leaseToken: 'lease' }), 'cancelled', NOON);
    expect(over && lost(over, 'away', NOON)).toMatchObject({ fatalReason: 'cancelled', work: 'leave', leaseToken: null });
    expect(over && unsent(over, 'away', NOON)).toMatchObject({ fatalReason: 'cancelled', work: 'refund', leaseToken: null });
  });

  it('waits for no time that lies ahead of the clock', () => {
    const join = { ...joinAt('recording'), updatedAt: later(60), leavingSince: later(60) };
    expect(notAhead(join, NOON)).toMatchObject({ updatedAt: NOON, leavingSince: NOON });
    expect(notAhead(join, later(60))).toBe(join);
  });

  it('stays as it ended first', () => {
    expect(ended(joinAt('done'), 'cancelled', NOON)).toBeNull();
  });
});

describe('a hint of the provider', () => {
  const silent = { ...joinAt('in_call'), dueAt: later(120), urgency: 'silent' } as const;

  it('makes a watched join due at once, and a second one changes nothing', () => {
    const told = hinted(silent, later(1));
    expect(told).toMatchObject({ dueAt: later(1), urgency: 'hinted', hintedAt: later(1), work: 'watch' });
    expect(told && hinted(told, later(2))).toBeNull();
  });

  it('leaves some time between two looks, whatever the clock says', () => {
    expect(hinted({ ...silent, lookedAt: NOON }, later(1))?.dueAt).toEqual(later(3));
    expect(hinted({ ...silent, lookedAt: later(7200) }, NOON)?.dueAt).toEqual(later(3));
  });

  it('is seen at the end of a look or dispatch that is under way', () => {
    const looking = hinted({ ...silent, leaseToken: 'lease' }, later(1));
    expect(looking).toMatchObject({ dueAt: later(120), leaseToken: 'lease', hintedAt: later(1) });
    expect(looking && watchedAgain(looking, later(120), later(1))).toMatchObject({ dueAt: later(4), urgency: 'hinted', leaseToken: null });
    const dispatching = hinted(aJoin({ leaseToken: 'lease', isAsked: true }), later(1));
    const answered = dispatching && dispatched(dispatching, 'run', { now: later(2), lookAt: later(180) });
    expect(answered).toMatchObject({ work: 'watch', dueAt: later(2), urgency: 'hinted' });
  });

  it('about a join that is over is none', () => {
    expect(hinted(joinAt('done'), NOON)).toBeNull();
  });

  describe('about a recording that is waited for', () => {
    const waiting = { ...joinAt('done'), work: 'capture', dueAt: later(300), tries: 7 } as const;

    it('makes it due at once, or some time after it was asked for last, and never later', () => {
      expect(hinted(waiting, later(60))).toEqual({ ...waiting, dueAt: later(60) });
      expect(hinted({ ...waiting, lookedAt: later(59) }, later(60))?.dueAt).toEqual(later(62));
      expect(hinted({ ...waiting, dueAt: later(61), lookedAt: later(59) }, later(60))).toBeNull();
    });

    it('counts beside one from before the end, which a process of an earlier release left', () => {
      expect(hinted({ ...waiting, hintedAt: NOON }, later(60))?.dueAt).toEqual(later(60));
    });

    it('is followed after the try that is under way', () => {
      const trying = { ...waiting, leaseToken: 'lease' };
      const told = hinted(trying, later(60));
      expect(told).toEqual({ ...trying, hintedAt: later(60) });
      expect(told && hinted(told, later(61))).toBeNull();
      const over = { leaseToken: null, tries: 8, hintedAt: null, lookedAt: later(62) };
      expect(told && captureLater(told, later(362), later(62))).toMatchObject({ ...over, dueAt: later(65) });
      expect(told && captureLater(told, later(64), later(62)).dueAt).toEqual(later(64));
      expect(captureLater(trying, later(362), later(62))).toMatchObject({ ...over, dueAt: later(362) });
    });
  });

  it('gone, the join waits in its turn: while its notetaker is on its way before those in a call', () => {
    const urgency = (status: JoinStatus) => watchedAgain(joinAt(status), later(60), NOON).urgency;
    expect([urgency('joining'), urgency('in_waiting_room'), urgency('in_call')]).toEqual(['early', 'early', 'silent']);
  });
});

describe('a fatal join', () => {
  it.each([
    ['the weekly place, when its notetaker was sent', joinAt('in_call'), 'entry_denied', ['team']],
    ['both places, when nobody could be sent', aJoin(), 'notetaker_unavailable', ['user', 'team']],
    ['the weekly place alone, when a requester ended it before', aJoin(), CANCELLED, ['team']],
  ])('[MEET-04] gives back %s', (_, join, reason, keys) => {
    const over = ended({ ...join, userQuota: 'user', teamQuota: 'team' }, reason, NOON);
    expect(over && refunds(over)).toEqual(keys);
  });
});

describe('requesters', () => {
  it('[MEET-06] are added once, while the join runs', () => {
    expect(withRequester(joinAt('in_call'), 'ben')?.requesterIds).toEqual(['ada', 'ben']);
    expect(withRequester(joinAt('in_call'), 'ada')).toBeNull();
    expect(withRequester(joinAt('done'), 'ben')).toBeNull();
  });
});

describe('the bubble of a join', () => {
  it('has one id, a uuid', () => {
    expect(bubbleIdOf('mj_1')).toBe(bubbleIdOf('mj_1'));
    expect(bubbleIdOf('mj_1')).not.toBe(bubbleIdOf('mj_2'));
    expect(bubbleIdOf('mj_1')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(captured(joinAt('done'), { media: null, lost: [], erases: false }, NOON)).toMatchObject({
      bubbleId: bubbleIdOf('mj_1'),
      work: null,
    });
  });
});
