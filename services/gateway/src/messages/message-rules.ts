import type { RequestHead } from './request-head.ts';

const MAX_HEADERS = 100;
const SPOKEN_VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

interface Message {
  readonly httpVersion: string;
  readonly headerCount: number;
  readonly head: RequestHead;
}

/** Why the framing of a message cannot be trusted, or null. Stricter than the parser, which lets some of these through. */
export const messageFault = ({ httpVersion, headerCount, head }: Message): string | null => {
  if (!SPOKEN_VERSIONS.has(httpVersion)) return 'The HTTP version is not supported.';
  if (headerCount > MAX_HEADERS) return `The request may have at most ${MAX_HEADERS} headers.`;
  if (head.hosts.length !== 1) return 'The request must have exactly one Host header.';
  return head.transferEncoding.length === 0 ? null : transferEncodingFault(httpVersion, head);
};

const transferEncodingFault = (httpVersion: string, head: RequestHead): string | null => {
  const [coding, ...more] = head.transferEncoding;
  if (more.length > 0 || coding?.trim().toLowerCase() !== 'chunked') return 'The only transfer coding that is supported is chunked.';
  if (head.contentLength !== null) return 'A request cannot have both Content-Length and Transfer-Encoding.';
  return httpVersion === '1.0' ? 'HTTP/1.0 has no transfer codings.' : null;
};

/** True when a body follows the head. */
export const announcesBody = (head: RequestHead): boolean =>
  head.transferEncoding.length > 0 || (head.contentLength !== null && head.contentLength !== '0');
