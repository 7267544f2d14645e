import { z } from 'zod';

/** The unit of every length in the interface: Unicode code points, so that an emoji counts once. */
export const hasAtMost = (text: string, characters: number): boolean => text.length <= characters || [...text].length <= characters;

// Beside control characters and halves of surrogate pairs: line and paragraph separators, and the bidirectional overrides that make a name read as another.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
export const isPrintable = (text: string): boolean => !UNPRINTABLE.test(text);

// Spaces, marks, control and format characters, and the letters that are drawn as nothing (Hangul fillers, blank Braille).
const VISIBLE = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Whether a reader sees anything of it. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

/** An id that a caller sends. Whether there is such a thing is not the schema's to say. */
export const CallerId = z.string().min(1, 'must not be empty');
