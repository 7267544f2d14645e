import { z } from 'zod';

/** The unit of every length in the interface: Unicode code points, so that an emoji counts once. */
export const codePoints = (text: string): number => [...text].length;

// Line and paragraph separators break logs and lists; bidirectional overrides make a name read as another one.
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
export const hasControls = (text: string): boolean => CONTROLS.test(text);

/** Any text that a caller sends: no NUL, no half of a surrogate pair (it would be stored as another text than was sent). */
export const CallerText = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed Unicode without NUL');

/** An id that a caller sends. Whether there is such a thing is not the schema's to say. */
export const CallerId = CallerText.min(1, 'must not be empty');
