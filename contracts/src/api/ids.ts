import { z } from 'zod';
import { EXAMPLE_IDS } from './examples.ts';

/** How ids look, for readers of the document. An answer is not checked against it: what is stored stays readable. */
const described = (meta: {
  readonly description: string;
  readonly format?: 'uuid';
  readonly pattern?: string;
  readonly examples: string[];
}) => z.string().meta(meta);
const uuid = (of: string, example: string) => described({ description: `UUID of the ${of}`, format: 'uuid', examples: [example] });
const prefixed = (prefix: string, of: string, example: string) =>
  described({ description: `Of the ${of}, prefix \`${prefix}_\``, pattern: `^${prefix}_[0-9a-f]{26}$`, examples: [example] });

export const BubbleId = uuid('bubble', EXAMPLE_IDS.bubble);
export const UserId = uuid('user', EXAMPLE_IDS.ada);
export const TeamId = uuid('team', EXAMPLE_IDS.team);
export const ChannelId = uuid('channel', EXAMPLE_IDS.channel);
export const ApiKeyId = uuid('key', EXAMPLE_IDS.key);
export const PersonId = described({
  description: 'UUID of the user; `ext_…` for somebody without an account',
  pattern: '^(ext_[A-Za-z0-9_-]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$',
  examples: [EXAMPLE_IDS.ben],
});
export const CommentId = described({ description: 'Of the comment, opaque', examples: [EXAMPLE_IDS.comment] });
export const ThreadId = described({ description: 'Of the thread, opaque', examples: [EXAMPLE_IDS.thread] });
export const SubscriptionId = prefixed('wh', 'subscription', EXAMPLE_IDS.subscription);
export const DeliveryId = prefixed('dlv', 'delivery', EXAMPLE_IDS.delivery);
export const ReplayId = prefixed('rpl', 'replay', EXAMPLE_IDS.replay);
export const EventId = prefixed('evt', 'event', EXAMPLE_IDS.event);
