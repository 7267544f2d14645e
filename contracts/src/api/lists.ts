import { z } from 'zod';
import { ApiKeySummary } from './api-key.ts';
import { BubbleSummary } from './bubble-summary.ts';
import { Comment } from './comment.ts';
import { examplesOf } from './examples.ts';
import { Team } from './team.ts';
import { WebhookSubscription } from './webhook.ts';

const Page = {
  has_more: z.boolean(),
  next_cursor: z.string().nullable().meta({ description: 'Pass as `cursor` for the next page; null on the last one' }),
};

export const BubblesList = z
  .object({ data: z.array(BubbleSummary), ...Page })
  .meta({ id: 'BubblesList', examples: examplesOf('BubblesList') });
export type BubblesList = z.infer<typeof BubblesList>;

export const CommentList = z.object({ data: z.array(Comment), ...Page }).meta({ id: 'CommentList', examples: examplesOf('CommentList') });
export type CommentList = z.infer<typeof CommentList>;

export const TeamList = z.object({ data: z.array(Team) }).meta({ id: 'TeamList', examples: examplesOf('TeamList') });
export type TeamList = z.infer<typeof TeamList>;

export const ApiKeyList = z.object({ data: z.array(ApiKeySummary) }).meta({ id: 'ApiKeyList', examples: examplesOf('ApiKeyList') });
export type ApiKeyList = z.infer<typeof ApiKeyList>;

export const WebhookSubscriptionList = z
  .object({ data: z.array(WebhookSubscription) })
  .meta({ id: 'WebhookSubscriptionList', examples: examplesOf('WebhookSubscriptionList') });
export type WebhookSubscriptionList = z.infer<typeof WebhookSubscriptionList>;

/** An extension of the interface: what a list of subscriptions is when a page of it is asked for. */
export const WebhookSubscriptionPage = z.object({ data: z.array(WebhookSubscription), ...Page }).meta({ id: 'WebhookSubscriptionPage' });
export type WebhookSubscriptionPage = z.infer<typeof WebhookSubscriptionPage>;
