/** Header lines as the parser hands them over: name, value, name, value. */
export type RawHeaders = readonly string[];

/** What the gateway itself reads of a request's head; every value as sent, in order. */
export interface RequestHead {
  readonly hosts: readonly string[];
  readonly authorization: readonly string[];
  readonly transferEncoding: readonly string[];
  readonly contentLength: string | null;
  /** Lower-case names of the fields that `Connection` nominates. */
  readonly nominated: ReadonlySet<string>;
  readonly forwarded: ForwardedFields;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** Of interest only when the peer is a trusted proxy. */
export interface ForwardedFields {
  readonly for: readonly string[];
  readonly host: string | null;
  readonly proto: string | null;
}

const NOTHING_NOMINATED: ReadonlySet<string> = new Set();

export const readHead = (raw: RawHeaders): RequestHead => {
  const hosts: string[] = [];
  const authorization: string[] = [];
  const transferEncoding: string[] = [];
  const connection: string[] = [];
  const forwardedFor: string[] = [];
  const single: Record<string, string | undefined> = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    switch (name) {
      case 'host':
        hosts.push(value);
        break;
      case 'authorization':
        authorization.push(value);
        break;
      case 'transfer-encoding':
        transferEncoding.push(value);
        break;
      case 'connection':
        connection.push(value);
        break;
      case 'x-forwarded-for':
        for (const one of splitList(value)) forwardedFor.push(one);
        break;
      case 'content-length':
      case 'x-forwarded-host':
      case 'x-forwarded-proto':
      case 'x-request-id':
      case 'traceparent':
        single[name] ??= value;
        break;
    }
  }
  return {
    hosts,
    authorization,
    transferEncoding,
    contentLength: single['content-length'] ?? null,
    nominated: nominatedBy(connection),
    forwarded: { for: forwardedFor, host: firstOf(single['x-forwarded-host']), proto: firstOf(single['x-forwarded-proto']) },
    requestId: single['x-request-id'] ?? null,
    traceparent: single['traceparent'] ?? null,
  };
};

const splitList = (value: string): string[] => value.split(',').map((item) => item.trim());
const firstOf = (value: string | undefined): string | null => (value === undefined ? null : (splitList(value)[0] ?? null));

/** The fields that a `Connection` header makes hop-by-hop. */
export const nominatedBy = (connection: readonly string[]): ReadonlySet<string> => {
  if (connection.length === 0) return NOTHING_NOMINATED;
  return new Set(connection.flatMap((value) => splitList(value.toLowerCase())));
};
