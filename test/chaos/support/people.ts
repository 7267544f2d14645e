import { isDomainError } from '@bubbles/kernel/errors.ts';
import type { SandboxUser } from '../../../deploy/sandbox/src/control/bodies.ts';
import type { Account, Directory } from '../../../deploy/sandbox/src/pipeline/people.ts';
import type { Outside } from '../../support/outside.ts';
import { untilSo } from './within.ts';

const CONCURRENT_REQUESTS = 8;

/** Accounts with tokens. */
export const makePeople = async ({ actions }: Outside, count: number): Promise<readonly SandboxUser[]> => {
  const people: SandboxUser[] = [];
  while (people.length < count) {
    const made = Array.from({ length: Math.min(CONCURRENT_REQUESTS, count - people.length) }, (_, n) => people.length + n);
    const users = made.map((n) => actions.createUser({ name: `Person ${n}`, email: `person-${n}@example.com` }));
    for (const one of await Promise.all(users)) people.push(one);
  }
  return people;
};

/** The pipeline knows the people it records, also while identity is away. */
export const directoryOf = (people: readonly SandboxUser[]): Directory => {
  const accounts = new Map(people.map(({ id, name, email }): [string, Account] => [id, { id, name, email, teamIds: [] }]));
  return {
    account: (id) => Promise.resolve(accounts.get(id) ?? null),
    channelName: () => Promise.resolve(null),
    teamExists: () => Promise.resolve(false),
  };
};

/** As an operator with patience: again until identity has taken it. */
export const renameUntilTaken = ({ identity }: Outside, id: string, name: string): Promise<void> => {
  let refusal = 'identity has not answered';
  const isTaken = async (): Promise<boolean> => {
    try {
      await identity.changeAccount(id, { name });
      return true;
    } catch (error) {
      if (!isDomainError(error) || error.kind !== 'unavailable') throw error;
      refusal = String(error);
      return false;
    }
  };
  return untilSo({ what: `identity has renamed ${id}`, state: () => [refusal] }, isTaken);
};
