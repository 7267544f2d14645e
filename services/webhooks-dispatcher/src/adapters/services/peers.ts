import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import { FIRST_LIFE } from '../../domain/subscription.ts';
import type { Access, Readability } from '../../ports.ts';

// Only the fields that the dispatcher reads.
const Membership = z.object({ team_id: z.string(), hidden: z.boolean(), visible_channel_ids: z.array(z.string()) });
const AccessAnswer = z.object({
  users: z.array(
    z.object({
      id: z.string(),
      state: z.string(),
      paid_features: z.boolean(),
      /** Older releases of identity omit it. */
      life: z.int().positive().optional(),
      memberships: z.array(Membership),
    }),
  ),
  teams: z.array(z.object({ id: z.string(), plan: z.string(), archived: z.boolean() })),
});
const Belonging = z.object({ team_id: z.string().nullable(), channel_id: z.string().nullable(), author_id: z.string().nullable() });
const ReadableAnswer = z.object({
  answers: z.array(z.object({ bubble_id: z.string(), user_id: z.string(), participates: z.boolean(), bubble: Belonging.nullable() })),
});

const namesAll = (answers: readonly { readonly id: string }[], ids: readonly string[]): boolean => {
  const named = new Set(answers.map(({ id }) => id));
  return ids.every((id) => named.has(id));
};

export const createAccess = (identity: InternalClient): Access => ({
  async ask({ userIds, teamIds }) {
    const body = { user_ids: userIds, team_ids: teamIds };
    const { users, teams } = await identity.post('/internal/v1/access', { body, schema: AccessAnswer });
    // Identity also lists ids that it does not know: an id that is missing from the answer proves nothing, so nothing may end because of it.
    if (!namesAll(users, userIds) || !namesAll(teams, teamIds)) throw new DomainError('unavailable', 'Incomplete answer from identity.');
    return {
      users: new Map(
        users.map(({ id, state, paid_features, life = FIRST_LIFE, memberships }) => [
          id,
          {
            active: state === 'active',
            pays: paid_features,
            life,
            memberships: memberships.map(({ team_id, hidden, visible_channel_ids }) => ({
              teamId: team_id,
              hidden,
              channelIds: visible_channel_ids,
            })),
          },
        ]),
      ),
      teams: new Map(teams.map(({ id, plan, archived }) => [id, { plan, archived }])),
    };
  },
});

export const createReadability = (bubblesQuery: InternalClient): Readability => ({
  async ask(pairs) {
    const body = { pairs: pairs.map(({ userId, bubbleId }) => ({ user_id: userId, bubble_id: bubbleId })) };
    const { answers } = await bubblesQuery.post('/internal/v1/readable', { body, schema: ReadableAnswer });
    // Answers are matched by position: a shifted one would give an owner the rights of another.
    const inStep =
      answers.length === pairs.length &&
      answers.every(({ user_id, bubble_id }, n) => user_id === pairs[n]?.userId && bubble_id === pairs[n]?.bubbleId);
    if (!inStep) throw new DomainError('unavailable', 'Answer order does not match the request.');
    return answers.map(({ participates, bubble }) => ({
      participates,
      bubble: bubble && { teamId: bubble.team_id, channelId: bubble.channel_id, authorId: bubble.author_id },
    }));
  },
});
