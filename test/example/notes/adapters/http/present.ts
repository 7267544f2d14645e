import { type Markup, markup, pageOf } from '@bubbles/http/routes/markup.ts';
import type { z } from 'zod';
import type { Note as NoteBody } from '../../../contracts.ts';
import type { Note } from '../../domain/note.ts';

export const presentNote = ({ id, text, writtenAt }: Note): z.infer<typeof NoteBody> => ({
  id,
  text,
  written_at: writtenAt.toISOString(),
});

export const presentPage = (owner: string): Markup =>
  pageOf({
    title: 'Notes',
    main: markup`<h1>Notes</h1>
<form method="post">
<label for="owner">Owner</label><input type="text" id="owner" name="owner" value="${owner}" required>
<label for="text">Note</label><input type="text" id="text" name="text" required>
<button>Write</button>
</form>`,
  });
