import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { Access, UserAccess } from '../../ports.ts';

// Only the fields that meetings reads. Older releases of identity omit `life` and `by_email`.
const User = z.object({
  id: z.string(),
  state: z.string(),
  life: z.int().positive().optional(),
  memberships: z.array(z.object({ team_id: z.string(), role: z.string(), hidden: z.boolean() })),
});
const AccessAnswer = z.object({
  users: z.array(User),
  teams: z.array(z.object({ id: z.string(), archived: z.boolean(), plan: z.string() })),
  by_email: z.array(z.object({ email: z.string(), user: User })).optional(),
});

const namesAll = (answers: readonly { readonly id: string }[], ids: readonly string[]): boolean => {
  const named = new Set(answers.map(({ id }) => id));
  return ids.every((id) => named.has(id));
};

const toUser = ({ id, state, life = 1, memberships }: z.infer<typeof User>): UserAccess => ({
  id,
  active: state === 'active',
  life,
  memberships: memberships.map(({ team_id, role, hidden }) => ({ teamId: team_id, role, hidden })),
});

/** Identity answers about no more at once. */
const MAX_ASKED = 500;

export const createAccess = (identity: InternalClient): Access => {
  const answerTo = async ({ userIds, teamIds, emails }: Required<Parameters<Access['ask']>[0]>) => {
    const body = { user_ids: userIds, team_ids: teamIds, emails };
    const { users, teams, by_email } = await identity.post('/internal/v1/access', { body, schema: AccessAnswer });
    // Identity also lists ids that it does not know: an id that is missing from the answer proves nothing.
    if (!namesAll(users, userIds) || !namesAll(teams, teamIds)) throw new DomainError('unavailable', 'Incomplete answer from identity.');
    // A person who is not found now would never see the recording.
    if (emails.length > 0 && by_email === undefined)
      throw new DomainError('unavailable', 'Identity is of an older release, which finds nobody by an address: upgrade it.');
    return { users, teams, byEmail: by_email ?? [] };
  };
  return {
    async ask({ userIds = [], teamIds = [], emails = [] }) {
      const slices = Math.max(1, Math.ceil(Math.max(userIds.length, teamIds.length, emails.length) / MAX_ASKED));
      const answers = await Promise.all(
        Array.from({ length: slices }, (_, slice) => {
          const part = (all: readonly string[]) => all.slice(slice * MAX_ASKED, (slice + 1) * MAX_ASKED);
          return answerTo({ userIds: part(userIds), teamIds: part(teamIds), emails: part(emails) });
        }),
      );
      return {
        users: new Map(answers.flatMap(({ users }) => users.map((user) => [user.id, toUser(user)]))),
        teams: new Map(answers.flatMap(({ teams }) => teams.map(({ id, archived, plan }) => [id, { archived, plan }]))),
        byEmail: new Map(answers.flatMap(({ byEmail }) => byEmail.map(({ email, user }) => [email, toUser(user)]))),
      };
    },
  };
};
