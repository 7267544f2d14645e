import { anyone } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { MEDIA_PREFIX } from '@bubbles/contracts/services.ts';
import { empty, file, withDetails } from '@bubbles/http/routes/content.ts';
import { reply } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { StoredMedia } from '../../ports.ts';

/** In real time: what a client reads more slowly it asks for from where it was. */
const TIME_LIMIT_MS = 300_000;

/** A page that a provider passes off as a video runs no script and loads nothing else. A video that is opened by itself must be of its own origin to play. */
const POLICY = "sandbox allow-same-origin; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";

const EXTENSIONS: Readonly<Record<string, string>> = { mpeg: 'mp3', 'x-matroska': 'mkv', quicktime: 'mov' };
const nameOf = (contentType: string): string => {
  const subtype = contentType.slice(contentType.indexOf('/') + 1);
  return `recording.${EXTENSIONS[subtype] ?? subtype}`;
};

const etagOf = ({ tag }: StoredMedia): string => `"${tag}"`;
const commonHeaders = (media: StoredMedia) => ({
  ETag: etagOf(media),
  'Cache-Control': 'private, max-age=3600',
  'Accept-Ranges': 'bytes',
});
const fileHeaders = (media: StoredMedia) => ({
  ...commonHeaders(media),
  'Content-Disposition': `inline; filename="${nameOf(media.contentType)}"`,
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Resource-Policy': 'cross-origin',
});

/** Byte range within a file of that length. Null serves the whole file: without a range, and for several ranges, other units or malformed ones. */
const rangeOf = (header: string | undefined, length: number): { readonly start: number; readonly end: number } | null => {
  const [, first = '', last = ''] = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i.exec(header ?? '') ?? [];
  if (first === '') return last === '' ? null : { start: Math.max(0, length - Number(last)), end: length };
  if (last !== '' && Number(last) < Number(first)) return null;
  return { start: Number(first), end: last === '' ? length : Math.min(Number(last) + 1, length) };
};

/** By the weak comparison (RFC 9110, 13.1.2). */
const isUnchanged = (header: string | undefined, media: StoredMedia): boolean =>
  header?.trim() === '*' || (header?.split(',').some((one) => one.trim().replace(/^W\//, '') === etagOf(media)) ?? false);

const MediaHeaders = z.object({ range: z.string().optional(), 'if-range': z.string().optional(), 'if-none-match': z.string().optional() });

const present = (media: StoredMedia, asked: z.infer<typeof MediaHeaders>) => {
  const { contentType, length } = media;
  if (isUnchanged(asked['if-none-match'], media)) return reply(304, undefined, { headers: commonHeaders(media) });
  const mayBePart = asked['if-range'] === undefined || asked['if-range'].trim() === etagOf(media);
  const range = mayBePart ? rangeOf(asked.range, length) : null;
  if (range === null) return reply(200, { contentType, length, bytes: media.bytes(0, length) }, { headers: fileHeaders(media) });
  const { start, end } = range;
  if (start >= end) return reply(416, undefined, { headers: { ...commonHeaders(media), 'Content-Range': `bytes */${length}` } });
  const part = { contentType, length: end - start, bytes: media.bytes(start, end) };
  return reply(206, part, { headers: { ...fileHeaders(media), 'Content-Range': `bytes ${start}-${end - 1}/${length}` } });
};

const COMMON_HEADERS = { ETag: 'Of the file', 'Cache-Control': 'An hour', 'Accept-Ranges': 'bytes' };
const FILE_HEADERS = {
  ...COMMON_HEADERS,
  'Content-Disposition': 'Shown where it is opened',
  'Content-Security-Policy': 'Runs nothing',
  'Cross-Origin-Resource-Policy': 'May be embedded anywhere',
};
const RANGE_HEADER = { 'Content-Range': 'Which part of the file, and its length' };

const getMedia = (app: App) =>
  route(
    {
      method: 'GET',
      path: `${MEDIA_PREFIX}{key}`,
      operationId: 'getMedia',
      summary: 'Read the file of a recording, or a part of it',
      tag: 'Media',
      guard: anyone,
      params: z.object({ key: CallerId }),
      headers: MediaHeaders,
      answers: {
        200: withDetails(file, { headers: FILE_HEADERS }),
        206: withDetails(file, { headers: { ...FILE_HEADERS, ...RANGE_HEADER } }),
        304: withDetails(empty, { headers: COMMON_HEADERS }),
        416: withDetails(empty, { headers: { ...COMMON_HEADERS, ...RANGE_HEADER } }),
      },
      errors: ['not_found'],
      timeLimitMs: TIME_LIMIT_MS,
      documented: false,
    },
    async ({ params, headers }) => present(await app.openMedia(params.key), headers),
  );

export const mediaRoutes = (app: App) => [getMedia(app)];
