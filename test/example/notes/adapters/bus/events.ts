import { outgoing } from '@bubbles/bus/outgoing.ts';
import { NoteWrittenV1 } from '../../../contracts.ts';
import type { NoteWritten } from '../../ports.ts';

/** The id is that of the fact, so that a message that is sent again counts once. */
export const noteWritten: NoteWritten = ({ id, ownerId }) =>
  outgoing(NoteWrittenV1, { note_id: id, owner_id: ownerId }, { id: `${id}:written`, subject: id });
