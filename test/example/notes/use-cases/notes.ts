import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { keptUntil, type Note } from '../domain/note.ts';
import type { NoteStore, NoteWritten } from '../ports.ts';

export interface WritePorts {
  readonly notes: NoteStore;
  readonly noteWritten: NoteWritten;
  readonly clock: Clock;
}

export const writeNote =
  ({ notes, noteWritten, clock }: WritePorts) =>
  async (ownerId: string, text: string, ids: Ids): Promise<Note> => {
    const note = { id: ids.uuid(), ownerId, text, writtenAt: clock.now() };
    await notes.insert(note, [noteWritten(note)]);
    return note;
  };

/** Unreadable and absent are one. */
export const readNote =
  ({ notes }: Pick<WritePorts, 'notes'>) =>
  async (ownerId: string, id: string): Promise<Note> => {
    const note = await notes.get(id);
    if (note?.ownerId !== ownerId) throw new DomainError('not_found', 'No such note.');
    return note;
  };

/** A note that somebody sends by mail, as the mail provider signs it. */
export const takeMail = ({ mailKey, ...ports }: WritePorts & { readonly mailKey: Buffer }) => {
  const write = writeNote(ports);
  return (body: Buffer, signature: string, { ownerId, ids }: { readonly ownerId: string; readonly ids: Ids }): Promise<Note> => {
    const expected = createHmac('sha256', mailKey).update(body).digest();
    const given = Buffer.from(signature, 'hex');
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      throw new DomainError('unauthorized', 'The signature is not of this body.');
    return write(ownerId, body.toString(), ids);
  };
};

export const dropOldNotes =
  ({ notes, clock }: Pick<WritePorts, 'notes' | 'clock'>) =>
  (): Promise<void> =>
    notes.dropWrittenUntil(keptUntil(clock.now()));
