import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { GATEWAY, OPERATOR, type ServiceTable } from '@bubbles/contracts/services.ts';

/** Keys of all services for this run of the sandbox. As in production, they authenticate calls between services. */
export interface CallerKeys {
  privateKey(caller: string): KeyObject;
  /** `CALLER_KEYS` of a service. */
  callersOf(service: string): string;
}

export const createCallerKeys = (services: ServiceTable): CallerKeys => {
  const callers = [GATEWAY, OPERATOR, ...Object.keys(services)];
  const pairs = new Map(callers.map((caller) => [caller, generateKeyPairSync('ed25519')]));
  const pairOf = (caller: string) => {
    const pair = pairs.get(caller);
    if (pair === undefined) throw new Error(`${caller} has no key`);
    return pair;
  };
  const publicKeyOf = (caller: string) => pairOf(caller).publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  return {
    privateKey: (caller) => pairOf(caller).privateKey,
    callersOf: (service) =>
      (services[service]?.callers ?? [])
        .filter((caller) => pairs.has(caller))
        .map((caller) => `${caller}=${publicKeyOf(caller)}`)
        .join(','),
  };
};
