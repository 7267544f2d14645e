import { z } from 'zod';

/** Written out in full, without what a reader would have to guess at: blanks, control characters, backslashes, halves of surrogate pairs. */
const ABSOLUTE_HTTPS = /^https:\/\/(?!\/)[^\s\p{Cc}\p{Cs}\\]+$/iu;

const httpsOrNull = (text: string | null): string | null =>
  text !== null && ABSOLUTE_HTTPS.test(text) && URL.canParse(text) ? text : null;

/** Whatever is not an absolute https URL becomes null wherever it is parsed: on its way in, and of what was stored before on its way out. */
export const HttpsLink = z.string().nullable().overwrite(httpsOrNull).meta({ description: 'Absolute https URL; null when there is none' });

const LINK_ATTRIBUTES = /(?<![\w-])(?:src|href|poster|data|action|formaction)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;

const linksIn = (html: string): string[] =>
  [...html.matchAll(LINK_ATTRIBUTES)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');

/** A snippet with a link that is not https becomes null as a whole. */
export const EmbedCode = z
  .string()
  .nullable()
  .overwrite((html) => (html !== null && linksIn(html).every((link) => httpsOrNull(link) !== null) ? html : null))
  .meta({ description: 'HTML embed snippet; all its links are https' });
