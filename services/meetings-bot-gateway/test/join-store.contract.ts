import { runInSpan, startSpan, traceparentOf } from '@bubbles/kernel/trace.ts';
import { describe, expect, it } from '@jest/globals';
import type { openStores } from '../src/adapters/store/stores.ts';
import { ended, withRequester } from '../src/domain/join.ts';
import type { JoinPage } from '../src/ports.ts';
import { aJoin, later, NOON } from './builders.ts';

type Stores = Pick<ReturnType<typeof openStores>, 'joins' | 'queues'>;
const unchanged = <T>(state: T) => ({ state, events: [] });
const lease = (token: string, seconds = 60) => ({ token, until: later(seconds) });

export const describeJoinStore = (engine: string, make: () => Promise<Stores>): void =>
  describe(`JoinStore on ${engine}`, () => {
    it('holds one running join of a team and meeting', async () => {
      const { joins } = await make();
      const inserted = await Promise.all(['mj_1', 'mj_2'].map((id) => joins.insert(aJoin({ id }), [])));
      expect(inserted.toSorted()).toEqual([false, true]);
      const first = await joins.running('key');
      expect(first).toMatchObject({ runningKey: 'key', requesterIds: ['ada'] });
      await joins.update(first?.id ?? '', (join) => unchanged(ended(join, 'cancelled', NOON) ?? join));
      expect(await joins.running('key')).toBeNull();
      expect(await joins.insert(aJoin({ id: 'mj_3' }), [])).toBe(true);
    });

    it('keeps with a join the trace of what asked for its present work', async () => {
      const { joins, queues } = await make();
      const [asked, renamed, left] = [startSpan(), startSpan(), startSpan()];
      await runInSpan(asked, () => joins.insert(aJoin(), []));
      await runInSpan(renamed, () => joins.update('mj_1', (join) => unchanged(withRequester(join, 'ben') ?? join)));
      expect(await queues.dispatch.claimNext(NOON, lease('a'))).toMatchObject({ traceparent: traceparentOf(asked) });
      await runInSpan(left, () => joins.update('mj_1', (join) => unchanged({ ...join, work: 'leave', leaseToken: null })));
      expect(await queues.leave.claimNext(later(60), lease('b', 120))).toMatchObject({ traceparent: traceparentOf(left) });
    });

    it('gives a join to each of its requesters, and to nobody else', async () => {
      const { joins } = await make();
      await joins.insert(aJoin(), []);
      expect(await joins.ofRequester('ben', 'mj_1')).toBeNull();
      await joins.update('mj_1', (join) => unchanged(withRequester(join, 'ben') ?? join));
      for (const user of ['ada', 'ben']) expect(await joins.ofRequester(user, 'mj_1')).toMatchObject({ id: 'mj_1' });
      expect([await joins.ofRequester('eve', 'mj_1'), await joins.get('mj_9')]).toEqual([null, null]);
    });

    it('lists the joins of a requester, newest first, of a status or of all', async () => {
      const { joins } = await make();
      for (const n of [1, 2, 3])
        await joins.insert({ ...aJoin({ id: `mj_${n}`, runningKey: `key-${n}` }), createdAt: later(n > 1 ? 1 : 0) }, []);
      await joins.update('mj_2', (join) => unchanged(ended(join, 'cancelled', NOON) ?? join));
      const list = async (page: Partial<JoinPage>) =>
        (await joins.listOf(['ada'], { status: null, position: null, limit: 10, ...page })).map(({ id }) => id);
      expect(await list({})).toEqual(['mj_3', 'mj_2', 'mj_1']);
      expect(await list({ limit: 2 })).toEqual(['mj_3', 'mj_2']);
      expect(await list({ position: { createdAt: later(1), id: 'mj_2' } })).toEqual(['mj_1']);
      expect([await list({ status: 'fatal' }), await list({ status: 'dispatched' })]).toEqual([['mj_2'], ['mj_3', 'mj_1']]);
    });

    it('lists the running joins of a requester', async () => {
      const { joins } = await make();
      await joins.insert(aJoin(), []);
      await joins.insert(aJoin({ id: 'mj_2', runningKey: 'other' }), []);
      await joins.update('mj_2', (join) => unchanged(ended(join, 'cancelled', NOON) ?? join));
      expect((await joins.runningOf(['ada', '#2 ada'])).map(({ id }) => id)).toEqual(['mj_1']);
      expect([...(await joins.byIds(['mj_1', 'mj_2', 'mj_9'])).keys()].toSorted()).toEqual(['mj_1', 'mj_2']);
    });

    it('[MEET-13] erases the link of a join that is over, once its answer is not given again any more', async () => {
      const { joins } = await make();
      await joins.insert(aJoin(), []);
      await joins.insert(aJoin({ id: 'mj_2', runningKey: 'other' }), []);
      await joins.update('mj_1', (join) => unchanged(ended(join, 'cancelled', later(60)) ?? join));
      const links = async () => [(await joins.get('mj_1'))?.linkSealed, (await joins.get('mj_2'))?.linkSealed];
      await joins.eraseLinks(later(86_399));
      expect(await links()).toEqual(['sealed', 'sealed']);
      await joins.eraseLinks(later(86_400));
      expect(await links()).toEqual([null, 'sealed']);
    });

    it('[MEET-10] finds joins whose work fails or is not done, and counts what waits', async () => {
      const { joins } = await make();
      const stored = [
        aJoin({ id: 'mj_new' }),
        aJoin({ id: 'mj_failing', work: 'watch', tries: 3, dueAt: later(3600), updatedAt: later(2) }),
        aJoin({ id: 'mj_left', work: 'capture', dueAt: later(-300), updatedAt: later(1) }),
        aJoin({ id: 'mj_watched', work: 'watch', tries: 2 }),
        aJoin({ id: 'mj_over', work: null, tries: 9, dueAt: later(-3600) }),
      ];
      for (const join of stored) await joins.insert({ ...join, runningKey: join.id }, []);
      const stuck = async (limit: number) => (await joins.stuck(NOON, limit)).map(({ id }) => id);
      expect([await stuck(10), await stuck(1)]).toEqual([['mj_left', 'mj_failing'], ['mj_left']]);
      expect(await joins.backlog(NOON)).toEqual({ silent: 1, uncaptured: 1, oldestUncaptured: later(1) });
    });

    it('gives the work of each kind to one worker, and again when its lease has ended', async () => {
      const { joins, queues } = await make();
      await joins.insert(aJoin(), []);
      expect(await queues.watch.claimNext(NOON, lease('w'))).toBeNull();
      const claims = await Promise.all(['a', 'b'].map((token) => queues.dispatch.claimNext(NOON, lease(token))));
      expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
      expect(await queues.dispatch.claimNext(later(60), lease('c', 120))).toMatchObject({ _id: 'mj_1', leaseToken: 'c' });
    });

    it('knows from its claim on that a notetaker may be on its way', async () => {
      const { joins, queues } = await make();
      await joins.insert(aJoin(), []);
      expect((await joins.get('mj_1'))?.isAsked).toBe(false);
      await queues.dispatch.claimNext(NOON, lease('a'));
      expect(await joins.get('mj_1')).toMatchObject({ isAsked: true, leaseToken: 'a' });
    });

    it('hastens what is due too late, and takes no lease away', async () => {
      const { joins, queues } = await make();
      for (const [id, seconds] of [
        ['mj_1', 901],
        ['mj_2', 900],
        ['mj_3', 0],
      ] as const)
        await joins.insert(aJoin({ id, runningKey: id, dueAt: later(seconds) }), []);
      await queues.dispatch.claimNext(NOON, lease('a', 7200));
      await joins.hasten(later(900), later(60));
      const stored = await joins.byIds(['mj_1', 'mj_2', 'mj_3']);
      expect([...stored.values()].map(({ id, dueAt, leaseToken }) => [id, dueAt, leaseToken]).toSorted()).toEqual([
        ['mj_1', later(60), null],
        ['mj_2', later(900), null],
        ['mj_3', later(60), 'a'],
      ]);
    });

    it('finds joins by what their providers call the runs', async () => {
      const { joins } = await make();
      for (const [id, provider, providerRef] of [
        ['mj_1', 'recall', 'r'],
        ['mj_2', 'vexa', 'r'],
        ['mj_3', 'vexa', 's'],
        ['mj_4', 'vexa', null],
      ] as const)
        await joins.insert(aJoin({ id, runningKey: id, provider, providerRef }), []);
      const find = async (...refs: Parameters<typeof joins.byRefs>[0]) => (await joins.byRefs(refs)).map(({ id }) => id).toSorted();
      expect(await find({ provider: 'vexa', ref: 'r' })).toEqual(['mj_2']);
      expect(await find({ provider: 'vexa', ref: 's' }, { provider: 'recall', ref: 'r' }, { provider: 'recall', ref: 's' })).toEqual([
        'mj_1',
        'mj_3',
      ]);
      expect(await find()).toEqual([]);
    });

    it('keeps a claim that comes while a change is written', async () => {
      const { joins, queues } = await make();
      await joins.insert(aJoin(), []);
      let claim: Promise<unknown> | null = null;
      const changed = await joins.update('mj_1', (join) => {
        claim ??= queues.dispatch.claimNext(NOON, lease('a'));
        return unchanged(withRequester(join, 'ben') ?? join);
      });
      await claim;
      const stored = await joins.get('mj_1');
      expect([stored?.leaseToken, stored?.requesterIds]).toEqual(['a', ['ada', 'ben']]);
      expect(changed?.requesterIds).toEqual(['ada', 'ben']);
    });
  });
