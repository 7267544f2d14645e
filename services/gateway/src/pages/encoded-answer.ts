import type { IncomingMessage } from 'node:http';
import type { Answer } from '../exchange/exchange.ts';

type Encoding = 'gzip' | 'identity';

interface Encoded {
  readonly type: string;
  /** Strong, of the bytes as they are. */
  readonly etag: string;
  /** In which encoding is asked only when the client does not have it already. */
  readonly body: (encoding: Encoding) => Buffer | Promise<Buffer>;
  /** Headers for every status, as name, value, name, value. */
  readonly headers: readonly string[];
  /** What else than the encoding the bytes depend on. */
  readonly varyBy?: readonly string[];
}

/** The answer that carries it, or says that the client has it. A strong ETag names the very bytes, so that each encoding has its own. */
export const encodedAnswer = async (
  { headers: sent }: IncomingMessage,
  { type, etag, body, headers, varyBy = [] }: Encoded,
): Promise<Answer> => {
  const encoding = preferredEncoding(sent['accept-encoding'] ?? '');
  const own = encoding === 'gzip' ? etag.replace(/"$/, '-gzip"') : etag;
  const lines = [...headers, 'Vary', [...varyBy, 'Accept-Encoding'].join(', '), 'ETag', own];
  if (isKnown(sent['if-none-match'] ?? '', own)) return { status: 304, headers: lines, body: '' };
  lines.push('Content-Type', type);
  if (encoding === 'gzip') lines.push('Content-Encoding', 'gzip');
  return { status: 200, headers: lines, body: await body(encoding) };
};

const WEIGHT = /^q=([\d.]+)$/;

/** RFC 9110, 12.5.3: what is compressed, unless the client would rather not have it so. */
const preferredEncoding = (accepted: string): Encoding => {
  const weights = new Map<string, number>();
  for (const item of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    weights.set(name, Number(parameters.flatMap((one) => WEIGHT.exec(one)?.[1] ?? []).at(0) ?? 1));
  }
  const gzip = weights.get('gzip') ?? weights.get('*') ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0) ? 'gzip' : 'identity';
};

/** RFC 9110, 13.1.2. */
const isKnown = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((sent) => sent.trim().replace(/^W\//, '') === etag);
