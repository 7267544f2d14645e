import { describe, expect, it } from '@jest/globals';
import { aKey, anAccount } from '../../test/builders.ts';
import { inState, keysEndedBy, withMembership, withoutMembership, withProfile } from './account.ts';

describe('account', () => {
  it('deleting forgets name, e-mail and picture, and keeps the keys', () => {
    const account = anAccount({ keys: [aKey()] });
    expect(inState(account, 'deleted')).toEqual({ ...account, state: 'deleted', name: null, email: null, pictureUrl: null, revision: 2 });
  });

  it('a change that changes nothing raises no revision', () => {
    const account = anAccount({ name: 'Ada' });
    expect(withProfile(account, { name: 'Ada' })).toBeNull();
    expect(inState(account, 'active')).toBeNull();
  });

  it('every change of profile or state raises the revision', () => {
    const account = anAccount();
    expect(withProfile(account, { name: null })?.revision).toBe(2);
    expect(inState(account, 'disabled')?.revision).toBe(2);
  });

  it('one that was deleted and is opened again, or disabled first, has nothing of before; one that was disabled has all', () => {
    const account = anAccount({ keys: [aKey()], memberships: [{ teamId: 'a', role: 'admin', hidden: false }] });
    const deleted = anAccount({ ...account, ...inState(account, 'deleted') });
    for (const state of ['active', 'disabled'] as const) {
      expect(inState(deleted, state)).toMatchObject({ state, life: 2, revision: 3, keys: [], memberships: [], name: null });
      expect(keysEndedBy(deleted, state)).toEqual(account.keys);
    }
    const disabled = anAccount({ ...account, ...inState(account, 'disabled') });
    expect(inState(disabled, 'active')).toMatchObject({ life: 1, keys: account.keys, memberships: account.memberships });
    expect(keysEndedBy(disabled, 'active')).toEqual([]);
  });

  it('a deleted account takes no profile', () => {
    const deleted = inState(anAccount(), 'deleted');
    expect(() => deleted && withProfile(deleted, { name: 'Ada' })).toThrow('A deleted account has no profile.');
  });

  it('a membership is changed in place, so that the order of joining stays', () => {
    const account = anAccount({
      memberships: [
        { teamId: 'a', role: 'guest', hidden: true },
        { teamId: 'b', role: 'admin', hidden: false },
      ],
    });
    expect(withMembership(account, { teamId: 'a', role: 'member', hidden: false })?.memberships).toEqual([
      { teamId: 'a', role: 'member', hidden: false },
      { teamId: 'b', role: 'admin', hidden: false },
    ]);
    expect(withMembership(account, { teamId: 'b', role: 'admin', hidden: false })).toBeNull();
  });

  it('ending a membership that is not there changes nothing', () => {
    const account = anAccount({ memberships: [{ teamId: 'a', role: 'member', hidden: false }] });
    expect(withoutMembership(account, 'b')).toBeNull();
    expect(withoutMembership(account, 'a')?.memberships).toEqual([]);
  });
});
