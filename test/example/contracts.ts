import type { EventDefinition } from '@bubbles/bus/bus.ts';
import { GATEWAY, type ServiceEntry } from '@bubbles/contracts/services.ts';
import { z } from 'zod';

/** What the service adds to `contracts`: bodies, events, and its entry in `services.ts`. */
export const Note = z.object({ id: z.uuid(), text: z.string(), written_at: z.string() }).meta({ id: 'Note' });
export const WriteNoteRequest = z.object({ text: z.string().min(1) }).meta({ id: 'WriteNoteRequest' });

const NoteWritten = z.object({ note_id: z.uuid(), owner_id: z.string() });
export const NoteWrittenV1: EventDefinition<z.infer<typeof NoteWritten>> = {
  type: 'notes.note.written.v1',
  schema: NoteWritten,
  publisher: 'notes',
  consumers: [],
};

export const NOTES_ENTRY: ServiceEntry = {
  prefixes: ['/v1/notes'],
  database: 'bubbles_notes',
  urlsVariable: 'NOTES_URLS',
  callers: [GATEWAY],
};
