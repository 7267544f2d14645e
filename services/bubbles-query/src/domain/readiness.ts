import { type Bubble, isReadable, type Media } from './bubble.ts';

const isProcessed = (media: Media | null): media is Media => media !== null && media.isProcessed !== false;

/** Every fact that the type needs is there. Notes count also when they say nothing; a silent recording has no transcript to wait for. */
function isComplete({ details, media, transcript, notes }: Bubble): boolean {
  if (details === null || !details.hasMedia || !isProcessed(media)) return false;
  const transcribed = transcript !== null || !media.hasAudio;
  switch (details.type) {
    case 'custom_image':
      return true;
    case 'screen_recording':
      return transcribed;
    case 'meeting_recording':
      return transcribed && notes !== null;
  }
}

/** It becomes ready now: it is complete and readable, and its ready event was never written. */
export const becomesReady = (bubble: Bubble, now: Date): boolean =>
  bubble.readyAt === null && isReadable(bubble, now) && isComplete(bubble);
