import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { BubbleId, UserId } from './ids.ts';

export const TranscriptSpeaker = z
  .object({
    id: UserId.nullable().meta({ description: 'Of a known user' }),
    name: z.string().nullable(),
  })
  .meta({ id: 'TranscriptSpeaker' });
export type TranscriptSpeaker = z.infer<typeof TranscriptSpeaker>;

export const TranscriptSegment = z
  .object({
    speaker: TranscriptSpeaker.nullable(),
    text: z.string(),
    start_time_seconds: z.number().meta({ description: 'Seconds from the start of the media' }),
    end_time_seconds: z.number().meta({ description: 'Seconds from the start of the media' }),
  })
  .meta({ id: 'TranscriptSegment' });
export type TranscriptSegment = z.infer<typeof TranscriptSegment>;

export const TranscriptJson = z
  .object({
    bubble_id: BubbleId,
    format: z.literal('json'),
    segments: z.array(TranscriptSegment).meta({ description: 'In order' }),
  })
  .meta({ id: 'TranscriptJson', examples: examplesOf('TranscriptJson') });
export type TranscriptJson = z.infer<typeof TranscriptJson>;

export const TranscriptText = z
  .object({
    bubble_id: BubbleId,
    format: z.literal('text'),
    text: z.string().meta({ description: 'Blocks of `Speaker: …` with a blank line between' }),
  })
  .meta({ id: 'TranscriptText', examples: examplesOf('TranscriptText') });
export type TranscriptText = z.infer<typeof TranscriptText>;

export const Transcript = z.discriminatedUnion('format', [TranscriptJson, TranscriptText]).meta({ id: 'Transcript' });
export type Transcript = z.infer<typeof Transcript>;
