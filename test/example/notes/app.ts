import { dropOldNotes, readNote, takeMail, type WritePorts, writeNote } from './use-cases/notes.ts';

/** What notes can do. */
export const createApp = (ports: WritePorts & { readonly mailKey: Buffer }) => ({
  writeNote: writeNote(ports),
  readNote: readNote(ports),
  takeMail: takeMail(ports),
  dropOldNotes: dropOldNotes(ports),
});
export type App = ReturnType<typeof createApp>;
