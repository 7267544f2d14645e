import { ReadableResponse } from '@bubbles/contracts/internal/bubbles-query.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Readability } from '../../ports.ts';

export const readability = (bubblesQuery: InternalClient): Readability => ({
  async ask(pairs) {
    const body = { pairs: pairs.map(({ userId, bubbleId }) => ({ user_id: userId, bubble_id: bubbleId })) };
    const { answers } = await bubblesQuery.post('/internal/v1/readable', { body, schema: ReadableResponse });
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
