import { createHash } from 'node:crypto';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { asciiAddress, MailFailure, type MailFailureReason, type MailTransport, type OutgoingMail } from './transport.ts';

/** What an `smtp://` or `smtps://` URL says. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; STARTTLS otherwise. */
  readonly secure: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
}

export interface Sender {
  readonly name: string;
  /** Its domain in ASCII. */
  readonly address: string;
}

interface SmtpOptions {
  readonly server: SmtpServer;
  readonly from: Sender;
  /** Without it a server that offers no STARTTLS gets mails in plain text. */
  readonly requireTls: boolean;
  /** Certificate authorities in place of the built-in ones, PEM; null for the built-in ones. */
  readonly ca: readonly string[] | null;
  readonly limits?: SmtpLimits;
}

/** Milliseconds of real time. */
interface SmtpLimits {
  readonly connectMs: number;
  readonly greetingMs: number;
  /** Between two signs of life of the server. */
  readonly silenceMs: number;
  /** For one mail, however slowly the server answers. */
  readonly mailMs: number;
}

const LIMITS: SmtpLimits = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 30_000, mailMs: 60_000 };
const CONNECTIONS = 4;
/** Below what mail servers wait for another mail, so that none is handed to a connection that is just closing. */
const IDLE_MS = 30_000;

const REASONS: ReadonlyMap<string, MailFailureReason> = new Map([
  ['ECONNECTION', 'unreachable'],
  ['ESOCKET', 'unreachable'],
  ['EDNS', 'unreachable'],
  ['ETIMEDOUT', 'timeout'],
  ['ETLS', 'tls'],
  ['EAUTH', 'login'],
  ['ENOAUTH', 'login'],
]);

/** What nodemailer adds to its errors. */
interface SmtpFault extends Error {
  readonly responseCode?: number;
  readonly command?: string;
  /** Code of a socket error. */
  readonly originalCode?: string;
}

/** Refused for good is only what the server says of the recipient or the message: a refusal of login or sender is ours to mend. */
const isFinal = ({ responseCode = 0, command }: SmtpFault): boolean =>
  (command === 'RCPT TO' || command === 'DATA') && responseCode >= 500 && responseCode !== 503;

/** Certificates are judged below the mail protocol, where each fault is one of the socket. */
const TLS_FAULT = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_/;

/** They keep their reason, whatever the server replied. */
const OUR_FAULTS: ReadonlySet<string> = new Set(['EAUTH', 'ETLS']);

const reasonOf = (fault: SmtpFault): MailFailureReason => {
  const code = String(errorCode(fault));
  if (code === 'ESOCKET' && TLS_FAULT.test(fault.originalCode ?? '')) return 'tls';
  if (fault.responseCode !== undefined && !OUR_FAULTS.has(code)) return 'deferred';
  const isLate = fault.name === 'TimeoutError' || (Error.isError(fault.cause) && fault.cause.name === 'TimeoutError');
  return isLate ? 'timeout' : (REASONS.get(code) ?? 'other');
};

/** Leaves out what the server said: it repeats addresses. */
const failureOf = (fault: SmtpFault): MailFailure =>
  new MailFailure(isFinal(fault) ? 'refused' : reasonOf(fault), fault.responseCode ?? null);

/** The same one for the same mail, so that readers of a mail that came twice show it once. */
const messageIdOf = ({ id }: OutgoingMail, { address }: Sender): string =>
  `<${createHash('sha256').update(id).digest('hex').slice(0, 40)}@${address.slice(address.lastIndexOf('@') + 1)}>`;

/** Addresses stand in objects, which are taken as they are: text would be parsed as a list. The envelope follows from them. */
const messageOf = (mail: OutgoingMail, { from, to }: { readonly from: Sender; readonly to: string }) => ({
  from,
  to: { name: '', address: to },
  subject: mail.subject,
  text: mail.text,
  html: mail.html,
  messageId: messageIdOf(mail, from),
  headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

const connect = async ({ server, requireTls, ca }: SmtpOptions, { connectMs, greetingMs, silenceMs }: SmtpLimits) => {
  // Loaded with the first mail: a start does not wait for it.
  const { createTransport } = await import('nodemailer');
  const { host, port, secure, login } = server;
  return createTransport({
    host,
    port,
    secure,
    requireTLS: requireTls,
    tls: { minVersion: 'TLSv1.2', ...(ca !== null && { ca: [...ca] }) },
    ...(login !== null && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    connectionTimeout: connectMs,
    dnsTimeout: connectMs,
    greetingTimeout: greetingMs,
    socketTimeout: silenceMs,
    pool: true,
    maxConnections: CONNECTIONS,
    idleTimeout: IDLE_MS,
    // A mail whose connection ends may have been accepted: the queue tries again, and not at once.
    maxRequeues: 0,
  });
};

/** Hands mails to a mail server over few connections that are kept. */
export const createSmtpTransport = (options: SmtpOptions): MailTransport => {
  const limits = options.limits ?? LIMITS;
  let connected: ReturnType<typeof connect> | null = null;
  return {
    async deliver(mail, signal) {
      connected ??= connect(options, limits);
      const transport = await connected;
      const to = asciiAddress(mail.to);
      if (to === null) throw new MailFailure('address');
      const message = messageOf(mail, { from: options.from, to });
      try {
        await withTimeout(limits.mailMs, (until) => transport.sendMail({ ...message, signal: until }), { signal });
      } catch (fault) {
        // Everything that nodemailer rejects with is one.
        throw failureOf(fault as SmtpFault);
      }
    },
    async close() {
      (await connected)?.close();
    },
  };
};
