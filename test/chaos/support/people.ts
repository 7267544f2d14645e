import { setTimeout as pause } from 'node:timers/promises';
import { isDomainError } from '@bubbles/shared/errors.ts';
import type { SandboxUser } from '../../../deploy/sandbox/src/control/specs.ts';
import type { Account, Directory } from '../../../deploy/sandbox/src/pipeline/people.ts';
import type { Outside } from '../../support/outside.ts';

const AT_A_TIME = 8;

/** Accounts with tokens. */
export const makePeople = async ({ actions }: Outside, count: number): Promise<readonly SandboxUser[]> => {
  const people: SandboxUser[] = [];
  while (people.length < count) {
    const made = Array.from({ length: Math.min(AT_A_TIME, count - people.length) }, (_, n) => people.length + n);
    const users = made.map((n) => actions.createUser({ name: `Person ${n}`, email: `person-${n}@example.com` }));
    people.push(...(await Promise.all(users)));
  }
  return people;
};

/** The pipeline knows whom it records, also while identity is away. */
export const directoryOf = (people: readonly SandboxUser[]): Directory => {
  const accounts = new Map(people.map(({ id, name, email }): [string, Account] => [id, { id, name, email, teamIds: [] }]));
  return {
    account: (id) => Promise.resolve(accounts.get(id) ?? null),
    channelName: () => Promise.resolve(null),
    teamExists: () => Promise.resolve(false),
  };
};

const RETRY_MS = 100;

/** As an operator with patience: again until identity has taken it. */
export const renameUntilTaken = async ({ identity }: Outside, id: string, name: string): Promise<void> => {
  for (;;) {
    try {
      await identity.changeAccount(id, { name });
      return;
    } catch (error) {
      if (!isDomainError(error) || error.kind !== 'unavailable') throw error;
      await pause(RETRY_MS);
    }
  }
};
