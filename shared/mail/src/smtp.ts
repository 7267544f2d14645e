import { createHash } from 'node:crypto';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { MailFailure, type MailFailureReason, type MailTransport, type OutgoingMail } from './transport.ts';

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
}

/** Refused for good is only what the server says of the recipient or the message: a refusal of login or sender is ours to mend. */
const isFinal = ({ responseCode = 0, command }: SmtpFault): boolean =>
  (command === 'RCPT TO' || command === 'DATA') && responseCode >= 500 && responseCode !== 503;

/** Certificates are judged below the mail protocol, where every fault is one of the socket. */
const isTlsFault = ({ message, cause }: SmtpFault): boolean => {
  const code = String(errorCode(cause));
  return /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_/.test(code) || /certificate|SSL routines|altnames|TLS/i.test(message);
};

/** Leaves out what the server said: it repeats addresses. */
const failureOf = (fault: SmtpFault): MailFailure => {
  const status = fault.responseCode ?? null;
  if (isFinal(fault)) return new MailFailure('refused', status);
  const code = String(errorCode(fault));
  if (REASONS.get(code) === 'unreachable' && isTlsFault(fault)) return new MailFailure('tls', status);
  if (status !== null && code !== 'EAUTH') return new MailFailure('deferred', status);
  return new MailFailure(REASONS.get(code) ?? (fault.name === 'TimeoutError' ? 'timeout' : 'other'), status);
};

/** The same one for the same mail, so that readers of a mail that came twice show it once. */
const messageIdOf = ({ id }: OutgoingMail, { address }: Sender): string =>
  `<${createHash('sha256').update(id).digest('hex').slice(0, 40)}@${address.slice(address.lastIndexOf('@') + 1)}>`;

const messageOf = (mail: OutgoingMail, from: Sender) => ({
  // Addresses as objects are taken as they are; as text they would be parsed as lists.
  envelope: { from: from.address, to: [mail.to] },
  from,
  to: { name: '', address: mail.to },
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
      try {
        await withTimeout(limits.mailMs, (until) => transport.sendMail({ ...messageOf(mail, options.from), signal: until }), { signal });
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
