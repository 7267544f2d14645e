export type BubbleType = 'meeting_recording' | 'screen_recording' | 'custom_image';

/** What fan-out and each attempt judge a bubble by. */
export interface ReadyBubble {
  readonly id: string;
  readonly type: BubbleType;
  readonly teamId: string | null;
  readonly channelId: string | null;
  /** The account of `Bubble.author`. */
  readonly authorId: string | null;
}
