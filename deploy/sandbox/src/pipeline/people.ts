import type { RecordedBubble } from '@bubbles/contracts/events/recording-events.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { BubbleFields } from './fields.ts';

type Person = RecordedBubble['participants'][number];

/** An account as identity has it, with the teams it has a membership of any role in. */
export interface Account {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly teamIds: readonly string[];
}

/** What the pipeline asks of identity. */
export interface Directory {
  /** Null for an id that no account has. */
  account(userId: string): Promise<Account | null>;
  /** Null for an unknown team or a channel that is not in it. */
  channelName(teamId: string, channelId: string): Promise<string | null>;
  teamExists(teamId: string): Promise<boolean>;
}

export interface People {
  participants(fields: BubbleFields): Promise<Person[]>;
  author(fields: BubbleFields): Promise<Person | null>;
  channelName(fields: BubbleFields): Promise<string | null>;
  commenter(userId: string): Promise<{ readonly id: string; readonly name: string | null }>;
}

export function people(directory: Directory): People {
  const known = async (field: string, userId: string): Promise<Account> => {
    const account = await directory.account(userId);
    if (account === null) throw new DomainError('invalid', `${field}: no such user.`);
    return account;
  };
  const person = (account: Account, teamId: string | null | undefined): Person => ({
    user_id: account.id,
    name: account.name,
    email: account.email,
    is_external: typeof teamId === 'string' && !account.teamIds.includes(teamId),
  });

  return {
    async participants({ participant_ids = [], external_participants = [], team_id }) {
      const inside = await Promise.all(
        [...new Set(participant_ids)].map(async (id) => person(await known('participant_ids', id), team_id)),
      );
      return [...inside, ...external_participants.map((guest) => ({ user_id: null, ...guest, is_external: true }))];
    },
    async author({ author_id, participant_ids = [], team_id }) {
      const id = author_id === undefined ? participant_ids[0] : author_id;
      return id === undefined || id === null ? null : person(await known('author_id', id), team_id);
    },
    async channelName({ team_id, channel_id }) {
      if (typeof team_id === 'string' && !(await directory.teamExists(team_id))) throw new DomainError('invalid', 'team_id: no such team.');
      if (typeof channel_id !== 'string') return null;
      const name = typeof team_id === 'string' ? await directory.channelName(team_id, channel_id) : null;
      if (name === null) throw new DomainError('invalid', 'channel_id: no such channel in the team.');
      return name;
    },
    async commenter(userId) {
      const { id, name } = await known('author_id', userId);
      return { id, name };
    },
  };
}
