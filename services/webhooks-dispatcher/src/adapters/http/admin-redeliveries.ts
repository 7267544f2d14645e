import { forOperators } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { Redeliveries, RedeliveriesRequest } from '@bubbles/contracts/internal/operators.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';

interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

const written = ({ createdAt, id }: Position): string => `${createdAt.toISOString()} ${id}`;
const positionOf = (after: string): Position => {
  const [time = '', id = ''] = after.split(' ');
  const createdAt = new Date(time);
  if (Number.isNaN(createdAt.getTime())) throw new DomainError('invalid', 'after: not a position that this service gave.');
  return { createdAt, id };
};

export const adminRedeliveryRoutes = (app: App) => [
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/subscriptions/{id}/redeliveries',
      operationId: 'adminRedeliver',
      summary: 'Send the deliveries of a span of time again, or count them',
      description:
        'From the newest to the oldest, in the background. 409 while a replay of the subscription goes on, and while it is disabled.',
      params: z.object({ id: CallerId }),
      body: RedeliveriesRequest,
      answers: { 200: json(Redeliveries) },
      errors: ['not_found', 'out_of_order'],
      audit: { body: ['since', 'until', 'includes_received', 'dry_run'], answer: ['replay_id', 'matching'] },
    },
    async ({ params: { id: subscriptionId }, body, ids }) => {
      const span = { since: new Date(body.since), until: body.until === null ? null : new Date(body.until) };
      const request = { ...span, subscriptionId, includesReceived: body.includes_received };
      if (!body.dry_run) {
        const { id } = await app.redeliverSpan({ ...request, ids });
        return { subscription_id: subscriptionId, matching: null, next_after: null, replay_id: id };
      }
      const { matching, next } = await app.countSpan({ ...request, after: body.after === null ? null : positionOf(body.after) });
      return { subscription_id: subscriptionId, matching, next_after: next && written(next), replay_id: null };
    },
  ),
];
