import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, request } from 'undici';
import type { MediaFile, MediaStore } from '../../ports.ts';
import { withSource } from './source.ts';

export interface S3Settings {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The bucket is in the path, not in the host. */
  readonly pathStyle: boolean;
}

interface S3Options extends S3Settings {
  /** Size of the largest accepted file. */
  readonly maxBytes: number;
  /** A file of at most this known length is sent in one request, as it comes. */
  readonly singleBytes?: number;
  readonly partBytes?: number;
}

interface S3Store extends MediaStore {
  close(): Promise<void>;
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Absent for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | Readable;
  readonly signal?: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly text: string;
}

const MIB = 1024 * 1024;
/** The least that S3 takes but for the last part is 5 MiB. */
const PART_BYTES = 8 * MIB;
const SINGLE_BYTES = 64 * MIB;
const MAX_PARTS = 10_000;
const MAX_TRIES = 4;
const TIMEOUT_MS = 60_000;
/** Nobody else tries at the same time. */
const UNSPREAD = () => 1;

const refused = (what: string, cause?: unknown): DomainError => new DomainError('unavailable', what, { cause });

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#34': '"', '#39': "'" };
const textIn = (xml: string, element: string): string | null => {
  const [, text] = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml) ?? [];
  return text?.replaceAll(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity) ?? null;
};
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const mayPass = ({ status, text }: Answer): boolean => status === 429 || status >= 500 || (status === 200 && text.includes('<Error>'));

/** Signed calls of one bucket. What it says of a fault is its code alone: its texts repeat keys and signatures. */
const createBucket = ({ endpoint, region, bucket, accessKeyId, secretAccessKey, pathStyle }: S3Settings) => {
  const agent = new Agent({ allowH2: false, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const base = new URL(endpoint);
  const root = pathStyle
    ? `${base.href.replace(/\/$/, '')}/${bucket}`
    : `${base.protocol}//${bucket}.${base.host}${base.pathname.replace(/\/$/, '')}`;

  const once = async ({ method, key = '', query = {}, headers = {}, body, signal }: Call): Promise<Answer> => {
    const url = new URL(`${root}/${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({ method, url: url.href, headers: { ...headers }, service: 's3', region, accessKeyId, secretAccessKey });
    const signed = await signer.sign();
    const response = await request(signed.url, {
      method,
      headers: Object.fromEntries(signed.headers),
      dispatcher: agent,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    const { etag = '' } = response.headers;
    return { status: response.statusCode, etag: String(etag), text: await response.body.text() };
  };
  const done = (answer: Answer, { method }: Call, also: readonly number[]): Answer => {
    const isFault = answer.text.includes('<Error>');
    if (also.includes(answer.status) || (answer.status < 300 && !isFault)) return answer;
    throw refused('The object store refused a call.', new Error(`${method}: ${answer.status} ${textIn(answer.text, 'Code') ?? ''}`));
  };
  const tried = async (call: Call): Promise<Answer | unknown> => {
    try {
      return await once(call);
    } catch (error) {
      call.signal?.throwIfAborted();
      return error;
    }
  };
  const isAnswer = (outcome: unknown): outcome is Answer => typeof outcome === 'object' && outcome !== null && 'status' in outcome;

  return {
    close: () => agent.destroy(),
    /** With a body that can be sent once. */
    async stream(call: Call): Promise<Answer> {
      return done(await once(call), call, []);
    },
    /** Tried again where that may help. `also`: further answers that are as good. */
    async call(call: Call, also: readonly number[] = []): Promise<Answer> {
      for (let tries = 1; ; tries += 1) {
        const outcome = await tried(call);
        const isLast = tries === MAX_TRIES;
        if (isAnswer(outcome) && (isLast || also.includes(outcome.status) || !mayPass(outcome))) return done(outcome, call, also);
        if (!isAnswer(outcome) && isLast) throw refused('The object store cannot be reached.', outcome);
        await pause(backoffMs(tries, UNSPREAD), undefined, call.signal ? { signal: call.signal } : {});
      }
    },
  };
};

/** All of them, in parts of one size but for the last; a part is the same buffer each time. */
async function* inParts(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  const part = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; ) {
      const room = chunk.subarray(at, at + size - filled);
      part.set(room, filled);
      filled += room.length;
      at += room.length;
      if (filled < size) continue;
      yield part;
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

type Bucket = ReturnType<typeof createBucket>;

const TOO_SHORT_OR_LONG = 'The file is not as long as it should be.';
const checkLength = ({ length }: MediaFile, total: number) => {
  if (length !== null && total !== length) throw refused(TOO_SHORT_OR_LONG);
};

/** Sends a file in one request, as it comes. */
const streamingTo =
  (bucket: Bucket) =>
  async (key: string, { contentType, bytes, length }: MediaFile & { readonly length: number }, signal: AbortSignal) => {
    let fault: unknown = null;
    const counted = async function* () {
      let total = 0;
      try {
        for await (const chunk of bytes) {
          total += chunk.length;
          if (total > length) throw refused(TOO_SHORT_OR_LONG);
          yield chunk;
        }
        if (total < length) throw refused(TOO_SHORT_OR_LONG);
      } catch (error) {
        fault = error;
        throw error;
      }
    };
    const headers = { 'content-type': contentType, 'content-length': String(length) };
    try {
      await bucket.stream({
        method: 'PUT',
        key,
        headers,
        body: length === 0 ? '' : Readable.from(counted(), { objectMode: false }),
        signal,
      });
    } catch (error) {
      if (fault !== null) throw fault;
      throw isDomainError(error) ? error : refused('The object store cannot be reached.', error);
    }
  };

/** What S3 calls multipart uploads. */
const createUploads = (bucket: Bucket) => {
  const abort = async (key: string, uploadId: string): Promise<void> => {
    await bucket.call({ method: 'DELETE', key, query: { uploadId } }, [404]);
  };
  /** Aborts uploads of processes that died. A store that cannot list uploads needs a lifecycle rule for them. */
  const abortOthers = async (key: string): Promise<void> => {
    const { text } = await bucket.call({ method: 'GET', query: { uploads: '', prefix: key } }, [400, 403, 404, 405, 501]);
    for (const [upload] of text.matchAll(/<Upload>.*?<\/Upload>/gs)) {
      const uploadId = textIn(upload, 'UploadId');
      if (uploadId !== null && textIn(upload, 'Key') === key) await abort(key, uploadId);
    }
  };
  const begin = async (key: string, contentType: string, signal: AbortSignal): Promise<string> => {
    const { text } = await bucket.call({ method: 'POST', key, query: { uploads: '' }, headers: { 'content-type': contentType }, signal });
    const uploadId = textIn(text, 'UploadId');
    if (uploadId === null) throw refused('The object store began no upload.');
    return uploadId;
  };
  const complete = async (
    key: string,
    uploadId: string,
    { etags, signal }: { readonly etags: readonly string[]; readonly signal: AbortSignal },
  ) => {
    const parts = etags.map((etag, n) => `<Part><PartNumber>${n + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`);
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    await bucket.call({ method: 'POST', key, query: { uploadId }, headers: { 'content-type': 'application/xml' }, body, signal });
  };
  return { abort, abortOthers, begin, complete };
};

/** Keeps files in a bucket that is compatible with S3, from where others serve them. No more than a part of a file is in memory. */
export const createS3Store = ({ maxBytes, singleBytes = SINGLE_BYTES, partBytes = PART_BYTES, ...settings }: S3Options): S3Store => {
  const bucket = createBucket(settings);
  const { abort, abortOthers, begin, complete } = createUploads(bucket);
  const putStreamed = streamingTo(bucket);
  const partSize = Math.max(partBytes, Math.ceil(maxBytes / MAX_PARTS));

  /** A file that turns out to be one part is sent as it is; a longer one part by part. */
  const putInParts = async (key: string, file: MediaFile, signal: AbortSignal): Promise<void> => {
    const headers = { 'content-type': file.contentType };
    const etags: string[] = [];
    let uploadId: string | null = null;
    let total = 0;
    try {
      for await (const part of inParts(file.bytes, partSize)) {
        signal.throwIfAborted();
        total += part.length;
        if (uploadId === null && part.length < partSize) {
          checkLength(file, total);
          await bucket.call({ method: 'PUT', key, headers, body: part, signal });
          return;
        }
        uploadId ??= await begin(key, file.contentType, signal);
        const query = { partNumber: String(etags.length + 1), uploadId };
        etags.push((await bucket.call({ method: 'PUT', key, query, body: part, signal })).etag);
      }
      signal.throwIfAborted();
      checkLength(file, total);
      if (uploadId === null) await bucket.call({ method: 'PUT', key, headers, body: '', signal });
      else await complete(key, uploadId, { etags, signal });
    } catch (error) {
      // What cannot be ended now the next try ends.
      if (uploadId !== null) await abort(key, uploadId).catch(() => undefined);
      throw error;
    }
  };

  return {
    put: (key, file, signal) =>
      withSource(file, signal, async (bytes) => {
        const { length } = file;
        if (length !== null && length <= singleBytes) return putStreamed(key, { ...file, bytes, length }, signal);
        await abortOthers(key);
        await putInParts(key, { ...file, bytes }, signal);
      }),
    async remove(key) {
      await abortOthers(key);
      await bucket.call({ method: 'DELETE', key }, [404]);
    },
    close: bucket.close,
  };
};
