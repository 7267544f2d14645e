export type BubbleType = 'meeting_recording' | 'screen_recording' | 'custom_image';

/** What a bubble belongs to, which may change after it was ready. */
export interface Belonging {
  readonly teamId: string | null;
  readonly channelId: string | null;
  /** The account of `Bubble.author`. */
  readonly authorId: string | null;
}

/** What fan-out and each attempt judge a bubble by. */
export interface ReadyBubble extends Belonging {
  readonly id: string;
  readonly type: BubbleType;
}
