import { z } from 'zod';

/** The unit of every length in the interface: Unicode code points, so that an emoji counts once. */
export const hasAtMost = (text: string, characters: number): boolean => text.length <= characters || [...text].length <= characters;

// Beside control characters and halves of surrogate pairs: line and paragraph separators, and the bidirectional overrides that make a name read as another.
// Tags and runs of variation selectors too: people see nothing of them, and language models read text out of them.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}/u;
/** Flags such as that of Scotland, which are spelt with tags. */
const FLAGS = /\p{RGI_Emoji_Tag_Sequence}/gv;
export const isPrintable = (text: string): boolean => !UNPRINTABLE.test(text.replaceAll(FLAGS, ''));

// Spaces, marks, control and format characters, and the letters that are drawn as nothing (Hangul fillers, blank Braille).
const VISIBLE = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Whether a reader sees anything of it. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

/** What a person calls something. */
export const displayName = (characters: number) =>
  z
    .string()
    .trim()
    .refine((name) => name.length > 0 && hasAtMost(name, characters), `must have 1 to ${characters} characters`)
    .refine((name) => isPrintable(name), 'must not hold control characters')
    .refine((name) => isVisible(name), 'must have a visible character')
    .meta({
      minLength: 1,
      maxLength: characters,
      description: 'Counted in Unicode code points once trimmed, stored trimmed; no control characters, and at least one that is visible',
    });

/** An id that a caller sends. Whether there is such a thing is not the schema's to say. */
export const CallerId = z.string().min(1, 'must not be empty');

/** Written out in full, without what a reader would have to guess at: blanks, control characters, backslashes, halves of surrogate pairs. */
const ABSOLUTE_HTTPS = /^https:\/\/(?!\/)[^\s\p{Cc}\p{Cs}\\]+$/iu;

const httpsOrNull = (text: string | null): string | null =>
  text !== null && ABSOLUTE_HTTPS.test(text) && URL.canParse(text) ? text : null;

/** Whatever is not an absolute https URL becomes null wherever it is parsed: on its way in, and of what was stored before on its way out. */
export const HttpsLink = z.string().nullable().overwrite(httpsOrNull).meta({ description: 'Absolute https URL; null when there is none' });

/** Media of the sandbox, which is reached at this machine only. */
const ON_THIS_MACHINE = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:\/[\w-][\w.-]*)+\/[0-9a-f]{64}$/;

/** A link, or a file that this machine serves itself. */
export const VideoLink = z
  .string()
  .nullable()
  .overwrite((text) => (text !== null && ON_THIS_MACHINE.test(text) && URL.canParse(text) ? text : httpsOrNull(text)))
  .meta({ description: 'Absolute https URL; null when there is none' });

const LINK_ATTRIBUTES = /(?<![\w-])(?:src|href|poster|data|action|formaction)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;

const linksIn = (html: string): string[] =>
  [...html.matchAll(LINK_ATTRIBUTES)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');

/** A snippet with a link that is not https becomes null as a whole. */
export const EmbedCode = z
  .string()
  .nullable()
  .overwrite((html) => (html !== null && linksIn(html).every((link) => httpsOrNull(link) !== null) ? html : null))
  .meta({ description: 'HTML embed snippet; all its links are https' });

/** How every time leaves the product: what `Date.prototype.toISOString` writes. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be ISO-8601 UTC with milliseconds')
  .meta({ format: 'date-time', description: 'ISO-8601, UTC, milliseconds', examples: ['2026-01-31T09:30:00.000Z'] });

const LAST_YEAR = 9999;

/** A time that comes in: of a year that four digits write in UTC, so that it can go out as a `Timestamp`. */
export const RecordedTime = z.iso.datetime({ offset: true }).refine((text) => {
  const year = new Date(text).getUTCFullYear();
  return year >= 0 && year <= LAST_YEAR;
}, 'must lie in the years 0000 to 9999 of UTC');

/** What every page of a list says beside its rows. */
export const PAGE_FIELDS = {
  has_more: z.boolean(),
  next_cursor: z.string().nullable().meta({ description: 'Pass as `cursor` for the next page; null on the last one' }),
};
