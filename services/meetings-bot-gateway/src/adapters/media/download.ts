import { setTimeout as pause } from 'node:timers/promises';
import { destinationUrl } from '@bubbles/address-guard/destination-url.ts';
import { guardedConnect } from '@bubbles/address-guard/guarded-connect.ts';
import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import { errorCode, isDomainError } from '@bubbles/kernel/errors.ts';
import { Agent, request } from 'undici';
import { type Download, type MediaFile, NotetakerError } from '../../ports.ts';
import { mediaTypeOf } from './media-type.ts';

interface DownloadOptions extends Pick<Parameters<typeof guardedConnect>[0], 'policy' | 'resolver' | 'extraCa'> {
  /** A larger file is refused. */
  readonly maxBytes: number;
  /** A transfer that brings less than 16 KiB within so much waiting has stopped. In real time. */
  readonly idleMs: number;
}

interface Downloads {
  /** Video or audio; anything else is refused. */
  readonly download: Download;
  /** What a provider keeps beside a recording, such as its transcript. */
  readonly downloadDocument: Download;
  close(): Promise<void>;
}

type Response = Awaited<ReturnType<typeof request>>;
type Headers = Readonly<Record<string, string>>;

interface FileKind {
  readonly accept: string;
  /** What a file is handed on as, by its header and first bytes; null for one that is refused. */
  readonly typeOf: (contentType: string, first: Uint8Array) => string | null;
}

const CONNECT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_REDIRECTS = 5;
/** How often a transfer that broke goes on where it was. */
const MAX_RESUMES = 10;
/** Nobody else tries at the same time. */
const UNSPREAD = () => 1;
const BROKEN_OFF = 'media_broken_off';
const LEAST_BYTES = 16 * 1024;
const MEDIA: FileKind = { accept: 'video/*, audio/*, application/octet-stream;q=0.5', typeOf: mediaTypeOf };
const DOCUMENT: FileKind = { accept: 'application/json, */*;q=0.5', typeOf: (contentType) => contentType };
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const transient = (reason: string, options: { readonly cause?: unknown; readonly retryAfterSeconds?: number } = {}): NotetakerError =>
  new NotetakerError('transient', reason, options);
const isKnown = (error: unknown): error is NotetakerError => Error.isError(error) && error.name === 'NotetakerError';

/** Errors of sockets name hosts at most; those of URLs hold the link, and are no cause. */
const faultOf = (error: unknown): NotetakerError => {
  if (isKnown(error)) return error;
  if (errorCode(error) === 'BLOCKED_ADDRESS') return transient('media_blocked');
  return transient('media_unreachable', { cause: error });
};

const headerOf = ({ headers }: Response, name: string): string => {
  const value = headers[name] ?? '';
  return typeof value === 'string' ? value : value.join(', ');
};

/** What was not read is not waited for. A listener keeps the end of an unread body from being an error of the process. */
const discard = ({ body }: Response): void => {
  body.on('error', () => undefined).destroy();
};

const lengthOf = (response: Response): number | null => {
  const length = headerOf(response, 'content-length');
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
};

const refusalOf = (response: Response): NotetakerError => {
  const [seconds] = /^\d{1,6}$/.exec(headerOf(response, 'retry-after')) ?? [];
  return transient(`media_http_${response.statusCode}`, seconds === undefined ? {} : { retryAfterSeconds: Number(seconds) });
};

/** What proves that a later answer is of the same file. */
interface Identity {
  readonly length: number | null;
  readonly etag: string;
  readonly lastModified: string;
}

const identityOf = (response: Response): Identity => ({
  length: lengthOf(response),
  etag: headerOf(response, 'etag'),
  lastModified: headerOf(response, 'last-modified'),
});

/** Asks for the rest of the file; by a weak entity tag it may not (RFC 9110, 13.1.5). */
const restOf = ({ etag, lastModified }: Identity, offset: number): Headers => {
  const validator = etag.startsWith('"') ? etag : lastModified;
  return { range: `bytes=${offset}-`, ...(validator !== '' && { 'if-range': validator }) };
};

const isRestOf = (response: Response, { length, etag }: Identity, offset: number): boolean => {
  const [, from, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headerOf(response, 'content-range')) ?? [];
  const hasAll = from !== undefined && Number(from) === offset && Number(last) === Number(total) - 1;
  const isSame = length === null ? etag.startsWith('"') : Number(total) === length;
  return response.statusCode === 206 && hasAll && isSame && headerOf(response, 'etag') === etag;
};

const isEncoded = (response: Response): boolean => !/^(?:identity)?$/i.test(headerOf(response, 'content-encoding'));

/** False once a transfer brought too little within `idleMs` of waiting. */
const paceOf = (idleMs: number) => {
  let waited = { ms: 0, bytes: 0 };
  return (bytes: number, ms: number): boolean => {
    const total = { ms: waited.ms + ms, bytes: waited.bytes + bytes };
    waited = total.bytes >= LEAST_BYTES ? { ms: 0, bytes: 0 } : total;
    return waited.ms < idleMs;
  };
};

interface TransferOptions extends Pick<DownloadOptions, 'maxBytes' | 'idleMs'> {
  readonly first: Response;
  readonly reopen: (headers: Headers) => Promise<Response>;
}

/** The bytes of a file, over as many answers as it takes. Leaving it ends the transfer at once. */
const transferOf = ({ first, reopen, maxBytes, idleMs }: TransferOptions): AsyncIterableIterator<Uint8Array, undefined> => {
  const identity = identityOf(first);
  let response = first;
  let chunks: AsyncIterator<Uint8Array> = first.body[Symbol.asyncIterator]();
  let offset = 0;
  let resumes = 0;
  let isLeft = false;
  const keepsPace = paceOf(idleMs);

  const read = async (): Promise<Uint8Array | null> => {
    const startedAt = performance.now();
    const { done, value } = await chunks.next();
    if (done && identity.length !== null && offset < identity.length) throw transient(BROKEN_OFF);
    if (done) return null;
    offset += value.length;
    if (offset > maxBytes) throw new NotetakerError('permanent', 'media_too_large');
    if (!keepsPace(value.length, performance.now() - startedAt)) throw transient('media_too_slow');
    return value;
  };
  const resume = async (cause: unknown): Promise<void> => {
    discard(response);
    while (offset > 0 && !isLeft && resumes < MAX_RESUMES) {
      await pause(backoffMs(resumes, UNSPREAD));
      resumes += 1;
      const next = await reopen(restOf(identity, offset)).catch(() => null);
      if (next === null) continue;
      response = next;
      if (isLeft || !isRestOf(next, identity, offset) || isEncoded(next)) break;
      chunks = next.body[Symbol.asyncIterator]();
      return;
    }
    throw faultOf(cause);
  };
  const readOn = async (): Promise<Uint8Array | null> => {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (isKnown(error) && error.reason !== BROKEN_OFF) throw error;
        await resume(error);
      }
    }
  };

  return {
    async next() {
      try {
        const value = await readOn();
        return value === null ? { done: true, value: undefined } : { done: false, value };
      } catch (error) {
        discard(response);
        throw error;
      }
    },
    return() {
      isLeft = true;
      discard(response);
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

/** The same bytes, of which the first ones were read already. */
const withFirst = (first: Uint8Array, rest: AsyncIterableIterator<Uint8Array, undefined>): AsyncIterableIterator<Uint8Array, undefined> => {
  let held: Uint8Array | null = first;
  return {
    ...rest,
    next() {
      const value = held;
      held = null;
      return value === null ? rest.next() : Promise.resolve({ done: false, value });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

/** Fetches the files of providers through the address guard, over connections of their own. */
export const createDownloads = ({ maxBytes, idleMs, ...guard }: DownloadOptions): Downloads => {
  const agent = new Agent({
    connect: guardedConnect({ ...guard, connectMs: CONNECT_MS }, () => undefined),
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });

  const vetted = (link: string, base?: URL): URL => {
    const url = URL.parse(link, base);
    if (url === null) throw transient('media_blocked');
    try {
      // A link stays as it is written; one that a redirect gives may be relative.
      return destinationUrl('url', base === undefined ? link : url.href, guard.policy);
    } catch (error) {
      if (isDomainError(error)) throw transient('media_blocked');
      throw error;
    }
  };
  /** `own` goes to the origin of the link alone. */
  const fetchFrom = async (link: string, own: Headers, headers: Headers): Promise<Response> => {
    const start = vetted(link);
    let url = start;
    for (let redirects = 0; ; redirects += 1) {
      const sent = { 'accept-encoding': 'identity', ...(url.origin === start.origin && own), ...headers };
      const response = await request(url, { dispatcher: agent, headers: sent });
      if (!REDIRECTS.has(response.statusCode)) return response;
      discard(response);
      if (redirects === MAX_REDIRECTS) throw transient('media_redirects');
      url = vetted(headerOf(response, 'location'), url);
    }
  };
  const checkHead = (response: Response): void => {
    if (response.statusCode !== 200) throw refusalOf(response);
    if (isEncoded(response)) throw transient('media_encoded');
    if ((lengthOf(response) ?? 0) > maxBytes) throw new NotetakerError('permanent', 'media_too_large');
  };
  const opened = async (first: Response, reopen: TransferOptions['reopen'], typeOf: FileKind['typeOf']): Promise<MediaFile> => {
    checkHead(first);
    const bytes = transferOf({ first, reopen, maxBytes, idleMs });
    const { done, value } = await bytes.next();
    if (done) throw transient('media_empty');
    const contentType = typeOf(headerOf(first, 'content-type'), value);
    if (contentType === null) throw transient('media_type');
    return { contentType, length: lengthOf(first), bytes: withFirst(value, bytes) };
  };

  const downloadAs =
    ({ accept, typeOf }: FileKind): Download =>
    async (url, own = {}) => {
      const reopen = (headers: Headers) => fetchFrom(url, own, { accept, ...headers });
      try {
        const first = await reopen({});
        return await opened(first, reopen, typeOf).catch((error: unknown) => {
          discard(first);
          throw error;
        });
      } catch (error) {
        throw faultOf(error);
      }
    };

  return { download: downloadAs(MEDIA), downloadDocument: downloadAs(DOCUMENT), close: () => agent.destroy() };
};
