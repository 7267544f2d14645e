import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackHost } from '@bubbles/address-guard/destination-url.ts';
import { parseAuthority } from '@bubbles/http/wire/framing.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';

/** Further callers of the control plane, besides this machine under its own names. It hands out tokens. */
export interface CallerRules {
  /** Further names and addresses under which it may be called, as `hostOf` writes them. */
  readonly hosts: readonly string[];
  /** Other machines may call. */
  readonly remote: boolean;
}

/** A name or an address as it stands in a Host header: lower case, IPv6 in brackets, IPv4 without its mapping into IPv6. */
export const hostOf = (name: string): string => {
  const plain = name.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  return isIP(plain) === 6 ? `[${plain}]` : plain;
};

/** Everything below `localhost` is this machine, and nobody can register such a name (RFC 6761). */
export const isLocalHost = (host: string): boolean => isLoopbackHost(host) || host.endsWith('.localhost');

const isThisMachine = ({ remoteAddress = '', localAddress }: IncomingMessage['socket']): boolean =>
  isLoopbackHost(hostOf(remoteAddress)) || remoteAddress === localAddress;

/** A proxy on this machine speaks for somebody who is elsewhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host'] as const;

const isRemote = ({ socket, headers }: IncomingMessage): boolean =>
  !isThisMachine(socket) || FORWARDED.some((name) => headers[name] !== undefined);

/** A page can be under any name that leads here (DNS rebinding), but not under our own address. */
const isNamed = ({ headers, socket }: IncomingMessage, { hosts }: CallerRules): boolean => {
  const host = parseAuthority(headers.host ?? '')?.host ?? '';
  return isLocalHost(host) || hosts.includes(host) || host === hostOf(socket.localAddress ?? '');
};

/** Browsers send it with every POST of a page; one of text or of a form needs no CORS preflight. */
const isForeignOrigin = ({ origin, host }: IncomingHttpHeaders): boolean =>
  origin !== undefined && URL.parse(origin)?.host !== URL.parse(`http://${host}`)?.host;

/** Browsers send it with what has no Origin too: scripts, pictures, frames. `none` was typed by a person. */
const isForeignFetch = ({ 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';

/** Why a request may give no orders; null when it may. */
export const callerRefusal = (req: IncomingMessage, rules: CallerRules): DomainError | null => {
  const refuse = (message: string) => new DomainError('forbidden', message);
  if (isRemote(req) && !rules.remote)
    return refuse('The control plane takes calls from this machine only. SANDBOX_REMOTE_CONTROL=1 opens it to others.');
  if (!isNamed(req, rules)) return refuse('The control plane does not answer under this Host. SANDBOX_ALLOWED_HOSTS names further ones.');
  if (isForeignOrigin(req.headers) || isForeignFetch(req.headers))
    return refuse('The control plane takes no calls from web pages of other origins.');
  return null;
};
