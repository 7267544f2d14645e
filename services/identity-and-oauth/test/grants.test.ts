import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openGrants } from '../src/adapters/store/grants.ts';
import { AT, aCode, aGrant, aRefreshToken } from './builders.ts';
import { startIdentity, type TestIdentity } from './identity.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const after = (ms: number) => new Date(AT.getTime() + ms);

describe('the sweep of grants', () => {
  let identity: TestIdentity;
  beforeEach(async () => {
    identity = await startIdentity();
  });
  afterEach(() => identity.stop());

  it('[case 5] keeps a code as long as any token that its second use could end', async () => {
    const { grants, codes, refreshTokens } = openGrants(indexedCollections(identity.database).open);
    const there = async () =>
      (await Promise.all([grants.get('grant-1'), codes.get(aCode().hash), refreshTokens.get(aRefreshToken().hash)])).map(
        (found) => found !== null,
      );
    await grants.insert(aGrant({ expiresAt: after(365 * DAY_MS) }));
    await codes.insert(aCode());
    await refreshTokens.issue(aRefreshToken());
    await identity.clock.set(after(30 * DAY_MS - 1));
    await identity.runJob('sweep-grants');
    expect(await there()).toEqual([true, true, true]);
    await identity.clock.set(after(30 * DAY_MS + 60_001));
    await identity.runJob('sweep-grants');
    expect(await there()).toEqual([true, false, false]);
    await identity.clock.set(after(365 * DAY_MS));
    await identity.runJob('sweep-grants');
    expect(await there()).toEqual([false, false, false]);
  });
});
