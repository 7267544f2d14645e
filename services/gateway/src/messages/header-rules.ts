import { nominatedBy, type RawHeaders, type RequestHead } from './request.ts';

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
/** Hop by hop, written by the gateway or its HTTP client, or never meant for a service. */
const WITHHELD_OF_CLIENTS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'expect',
  'host',
  'content-length',
  'forwarded',
  'x-real-ip',
  'x-request-id',
  'traceparent',
  'tracestate',
  'baggage',
]);
/**
 * What services read. RFC 9110, 7.6.1 forbids clients to name them in `Connection`; where one does, they go on all the same, so that a request means the same
 * to the gateway and to the service.
 */
const READ_BY_SERVICES: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-type',
  'cookie',
  'idempotency-key',
  'origin',
]);
const RESERVED = /^(?:proxy-|x-internal-|x-forwarded-)/;

interface RequestRules {
  readonly head: RequestHead;
  /** Only identity reads credentials; everybody else gets an assertion. */
  readonly keepAuthorization: boolean;
  /** Those that go on, by their names. */
  readonly cookies: 'all' | readonly string[];
}

/** A name with an underscore can pass for one with a hyphen where headers become variables. */
const staysHere = (name: string, { nominated }: RequestHead): boolean =>
  (nominated.has(name) && !READ_BY_SERVICES.has(name)) || WITHHELD_OF_CLIENTS.has(name) || RESERVED.test(name) || name.includes('_');

/** The client's header lines that go on to a service; the caller appends ours afterwards, so that nothing a client sends can remove or shadow them. */
export const forwardedRequestHeaders = (raw: RawHeaders, { head, keepAuthorization, cookies }: RequestRules): string[] => {
  const kept: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const sent = raw[index] ?? '';
    const name = sent.toLowerCase();
    if (staysHere(name, head)) continue;
    if (name === 'authorization' && !keepAuthorization) continue;
    const value = raw[index + 1] ?? '';
    const goesOn = name === 'cookie' && cookies !== 'all' ? cookiesOf(value, cookies) : value;
    if (goesOn !== '' || name !== 'cookie') kept.push(sent, goesOn);
  }
  return kept;
};

/** RFC 6265, 4.2.1: of `name=value; name=value` what has one of the names. */
const cookiesOf = (header: string, names: readonly string[]): string =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => names.includes(pair.slice(0, Math.max(pair.indexOf('='), 0))))
    .join('; ');

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Hop by hop, never shown of a service, or written by the gateway in its place. */
const WITHHELD_OF_SERVICES: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'server',
  'x-powered-by',
  'x-request-id',
  'strict-transport-security',
]);

interface ResponseRules {
  readonly status: number;
  /** Lower-case names that the gateway writes itself on this answer. */
  readonly replaced: ReadonlySet<string>;
}

/** The lines of a service's answer that go on to the client. */
export const forwardedResponseHeaders = (headers: ResponseHeaders, { status, replaced }: ResponseRules): string[] => {
  const { connection = [] } = headers;
  const nominated = nominatedBy(typeof connection === 'string' ? [connection] : connection);
  const kept: string[] = [];
  for (const [sent, value] of Object.entries(headers)) {
    const name = sent.toLowerCase();
    if (WITHHELD_OF_SERVICES.has(name) || nominated.has(name) || RESERVED.test(name) || replaced.has(name)) continue;
    if (name === 'content-length' && status === 204) continue;
    if (typeof value === 'string') kept.push(name, value);
    else for (const line of value ?? []) kept.push(name, line);
  }
  return kept;
};
