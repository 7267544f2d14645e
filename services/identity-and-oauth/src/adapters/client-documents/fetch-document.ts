import { guardedConnect } from '@bubbles/address-guard/guarded-connect.ts';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { DomainError, errorCode, isDomainError } from '@bubbles/kernel/errors.ts';
import { Agent, request } from 'undici';

type Head = Pick<Awaited<ReturnType<typeof request>>, 'statusCode' | 'headers'>;

export interface FetchedDocument {
  readonly fields: Readonly<Record<string, unknown>>;
  /** How long its server says that it may be kept; null when it does not say. */
  readonly maxAgeSeconds: number | null;
}

interface FetcherOptions extends Pick<Parameters<typeof guardedConnect>[0], 'policy' | 'resolver' | 'extraCa'> {
  /** From the first look-up to the end of the body. */
  readonly timeLimitMs?: number;
}

interface DocumentFetcher {
  /** One GET. Rejects with `invalid` when the server sends no document, and with `unavailable` when this process cannot ask. */
  fetch(url: URL): Promise<FetchedDocument>;
  close(): Promise<void>;
}

/** Both from section 8 of draft-ietf-oauth-client-id-metadata-document. */
const MAX_BYTES = 5 * 1024;
const TIME_LIMIT_MS = 3000;
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'oauth-client-metadata/1' };

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json[\t ]*(?:;|$)/i;
const ENCODED = /^(?!identity$)./i;
/** The codes of a process that has run out of sockets, files or memory, or that stops. */
const OUR_FAULT = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

const refused = (what: string, cause?: unknown): DomainError =>
  new DomainError('invalid', `client_id: the metadata document ${what}`, { cause });
const TOO_LARGE = `must have at most ${MAX_BYTES} bytes.`;

const headerOf = ({ headers }: Head, name: string): string => {
  const value = headers[name] ?? '';
  return typeof value === 'string' ? value : value.join(', ');
};

const checkHead = (head: Head): void => {
  if (head.statusCode !== 200) throw refused(`must be answered with status 200; the answer had ${head.statusCode}.`);
  if (!JSON_TYPE.test(headerOf(head, 'content-type'))) throw refused('must have the Content-Type application/json.');
  if (ENCODED.test(headerOf(head, 'content-encoding'))) throw refused('must be sent without Content-Encoding.');
  if (Number(headerOf(head, 'content-length')) > MAX_BYTES) throw refused(TOO_LARGE);
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const fieldsIn = (body: Uint8Array): FetchedDocument['fields'] => {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(body));
  } catch (cause) {
    throw refused('must be well-formed JSON.', cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('must be a JSON object.');
  // An object of JSON has fields of unknown types.
  return value as FetchedDocument['fields'];
};

/** RFC 9111, 5.2.2: what is already old is kept so much shorter. */
const maxAgeOf = (head: Head): number | null => {
  const directives = headerOf(head, 'cache-control').toLowerCase();
  if (/(?:^|[\s,])no-(?:store|cache)\b/.test(directives)) return 0;
  const [, seconds] = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(directives) ?? [];
  return seconds === undefined ? null : Number(seconds) - (Number(headerOf(head, 'age')) || 0);
};

/** Fetches documents through the address guard. Redirects are not followed, and no connection is kept. */
export const createDocumentFetcher = ({ timeLimitMs = TIME_LIMIT_MS, ...guard }: FetcherOptions): DocumentFetcher => {
  const agent = new Agent({
    connect: guardedConnect({ ...guard, connectMs: timeLimitMs }, () => undefined),
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  const read = async (url: URL, signal: AbortSignal): Promise<FetchedDocument> => {
    const { body, ...head } = await request(url, { dispatcher: agent, signal, headers: HEADERS });
    try {
      checkHead(head);
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw refused(TOO_LARGE);
        chunks.push(chunk);
      }
      return { fields: fieldsIn(Buffer.concat(chunks)), maxAgeSeconds: maxAgeOf(head) };
    } finally {
      // What was not read is not waited for. A listener keeps the end of an unread body from being an error of the process.
      body.on('error', () => undefined).destroy();
    }
  };
  return {
    async fetch(url) {
      try {
        return await withTimeout(timeLimitMs, (signal) => read(url, signal));
      } catch (error) {
        if (isDomainError(error)) throw error;
        if (OUR_FAULT.has(String(errorCode(error)))) throw new DomainError('unavailable', 'No connection can be made.', { cause: error });
        throw refused('could not be fetched.', error);
      }
    },
    close: () => agent.destroy(),
  };
};
