import { serviceTokens } from '@bubbles/shared/http/service-token.ts';
import { fakeClock } from '@bubbles/shared/testing/fake-clock.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type IdentityChecks, identityChecks } from '../src/admission/identity-checks.ts';
import { type Address, openAddress, POOL_LIMITS } from '../src/upstream/address.ts';
import { type FakeIdentity, IDENTITY_FRAGMENT, serviceKey, startFakeIdentity } from './fake-services.ts';

const FAILURES_TO_OPEN = 10;
/** An idle connection ends by itself then. */
const KEPT_IDLE_MS = 20_000;
const CHECK = { h: 'a'.repeat(64), jwt: null, aud: 'bubbles-query', accepts: ['pat' as const] };

/** Replicas come and go under their addresses, which are given to others again. */
describe('an address of identity that is gone', () => {
  const clock = fakeClock();
  let identity: FakeIdentity;
  let checks: IdentityChecks;
  const opened: Address[] = [];
  const anAddress = (): Address => {
    const address = openAddress(identity.url, clock, POOL_LIMITS);
    opened.push(address);
    return address;
  };
  const outcomeAt = async (address: Address) => (await checks.check(CHECK, [address])).outcome;

  beforeEach(async () => {
    identity = await startFakeIdentity(IDENTITY_FRAGMENT);
    checks = identityChecks({
      tokens: serviceTokens({ caller: 'gateway', key: serviceKey(), clock }),
      deadlineMs: 1000,
      onBatch: () => undefined,
    });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((address) => address.close()));
    await checks.close();
    await identity.stop();
  });

  it(
    '[ERR-05] keeps no connection',
    async () => {
      const address = anAddress();
      expect([await outcomeAt(address), identity.sockets.size]).toEqual(['allowed', 1]);
      await address.close();
      while (identity.sockets.size > 0) await new Promise(setImmediate);
    },
    KEPT_IDLE_MS / 2,
  );

  it('[ERR-05] holds nothing against the replica that has it next', async () => {
    const gone = anAddress();
    expect(await outcomeAt(gone)).toBe('allowed');
    for (let n = 0; n < FAILURES_TO_OPEN; n += 1) gone.record('failed');
    expect(await outcomeAt(gone)).toBe('unanswered');
    const next = anAddress();
    expect(await outcomeAt(next)).toBe('allowed');
    await gone.close();
    expect(await outcomeAt(next)).toBe('allowed');
  });
});
