import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { BubbleId, UserId } from './ids.ts';

const TranscriptSpeaker = z
  .object({
    id: UserId.nullable().meta({ description: 'Of a known user' }),
    name: z.string().nullable(),
  })
  .meta({ id: 'TranscriptSpeaker' });

export const TranscriptSegment = z
  .object({
    speaker: TranscriptSpeaker.nullable(),
    text: z.string(),
    start_time_seconds: z.number().meta({ description: 'Seconds from the start of the media' }),
    end_time_seconds: z.number().meta({ description: 'Seconds from the start of the media' }),
  })
  .meta({ id: 'TranscriptSegment' });
export type TranscriptSegment = z.infer<typeof TranscriptSegment>;

const TranscriptJson = z
  .object({
    bubble_id: BubbleId,
    format: z.literal('json'),
    segments: z.array(TranscriptSegment).meta({ description: 'In order' }),
  })
  .meta({ id: 'TranscriptJson', examples: examplesOf('TranscriptJson') });

const TranscriptText = z
  .object({
    bubble_id: BubbleId,
    format: z.literal('text'),
    text: z.string().meta({ description: 'Blocks of `Speaker: …` with a blank line between' }),
  })
  .meta({ id: 'TranscriptText', examples: examplesOf('TranscriptText') });

export const Transcript = z.discriminatedUnion('format', [TranscriptJson, TranscriptText]).meta({ id: 'Transcript' });
export type Transcript = z.infer<typeof Transcript>;
