import type { OutgoingEvent } from '@bubbles/bus/outgoing.ts';
import type { Note } from './domain/note.ts';

export interface NoteStore {
  /** With its events in the same write. */
  insert(note: Note, events: readonly OutgoingEvent[]): Promise<void>;
  get(id: string): Promise<Note | null>;
  dropWrittenUntil(at: Date): Promise<void>;
}

/** The event that tells of a note. */
export type NoteWritten = (note: Note) => OutgoingEvent;
