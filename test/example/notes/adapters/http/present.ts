import type { z } from 'zod';
import type { Note as NoteBody } from '../../../contracts.ts';
import type { Note } from '../../domain/note.ts';

export const presentNote = ({ id, text, writtenAt }: Note): z.infer<typeof NoteBody> => ({
  id,
  text,
  written_at: writtenAt.toISOString(),
});

export const presentPage = (): string =>
  '<!doctype html><title>Notes</title><form method="post"><input name="owner"><input name="text"><button>Write</button></form>';
