import { hash } from 'node:crypto';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { JsonObject } from '../messages/json.ts';

/** The public document, ready but for the origin that it is served under. */
export interface RenderedDocument {
  identity(origin: string): Buffer;
  gzip(origin: string): Buffer;
  /** Strong, of document and origin. */
  etag(origin: string): string;
}

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const ETAG_BYTES = 24;

/** `servers` stands last, so that nearly all of the text, its compression and its checksum are made once for all origins. */
export const renderDocument = (document: JsonObject): RenderedDocument => {
  const head = Buffer.from(`${JSON.stringify(document).slice(0, -1)},"servers":[{"url":"`);
  // Ends on a byte border and is not final: what is compressed for the origin can follow.
  const compressedHead = deflateRawSync(head, { level: constants.Z_BEST_COMPRESSION, finishFlush: constants.Z_SYNC_FLUSH });
  const checksum = crc32(head);
  const digest = hash('sha256', head, 'base64url');
  const tailOf = (origin: string) => Buffer.from(`${JSON.stringify(origin).slice(1, -1)}"}]}`);
  const compressed = (tail: Buffer): Buffer => {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(tail, checksum), 0);
    trailer.writeUInt32LE((head.length + tail.length) >>> 0, 4);
    return Buffer.concat([GZIP_HEADER, compressedHead, stored(tail), trailer]);
  };
  return {
    identity: keptByOrigin((origin) => Buffer.concat([head, tailOf(origin)])),
    gzip: keptByOrigin((origin) => compressed(tailOf(origin))),
    etag: keptByOrigin((origin) => `"${hash('sha256', `${digest} ${origin}`, 'base64url').slice(0, ETAG_BYTES)}"`),
  };
};

const KEPT_ORIGINS = 4;

/** Clients come by few names: all of one share what was made for the first, however slowly they read. */
const keptByOrigin = <T>(make: (origin: string) => T): ((origin: string) => T) => {
  const kept = new Map<string, T>();
  return (origin) => {
    const known = kept.get(origin) ?? make(origin);
    if (kept.size >= KEPT_ORIGINS && !kept.has(origin)) kept.clear();
    kept.set(origin, known);
    return known;
  };
};

const FINAL_STORED_BLOCK = 1;

/** The last block of a deflate stream (RFC 1951, 3.2.4) as it is: an origin is too short to be worth a compressor. */
const stored = (bytes: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt8(FINAL_STORED_BLOCK, 0);
  head.writeUInt16LE(bytes.length, 1);
  head.writeUInt16LE(~bytes.length & 0xffff, 3);
  return Buffer.concat([head, bytes]);
};
