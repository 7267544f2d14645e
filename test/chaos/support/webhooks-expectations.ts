import { expect } from '@jest/globals';
import type { Ledger } from './deliveries-ledger.ts';
import type { Trial } from './webhooks-trial.ts';

/** Every delivery came, signed and under its own id; a crash repeats what was on the wire, once. */
export const expectKept = (
  { deliveries, inFlight, dispatchers, receiver }: Trial,
  { repeated, ...ledger }: Ledger,
  storeRestarts = 0,
): void => {
  expect(ledger).toEqual({ arrived: deliveries, confused: [], unsent: [], unrecorded: [], unexplained: [] });
  expect(receiver.forged).toBe(0);
  expect(repeated).toBeLessThanOrEqual((dispatchers.killed.size + storeRestarts * dispatchers.alive.length) * inFlight);
};
