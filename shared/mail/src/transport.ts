import { domainToASCII } from 'node:url';

/** One mail to one recipient. */
export interface Mail {
  /** Id chosen by the sender, neither secret nor personal, since it is logged. A mail is stored once per id. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** From then on it is not worth sending, since what it carries is over. */
  readonly dropAt: Date;
}

export type OutgoingMail = Omit<Mail, 'dropAt'>;

export interface MailTransport {
  /** Resolves when the mail was accepted. Rejects with `MailFailure`. May be asked twice for one mail, when the process died in between. */
  deliver(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Why a mail was not accepted, in words that a metric can carry: never an address, never what a server said. */
export type MailFailureReason =
  /** The address cannot be written into an envelope. */
  | 'address'
  /** Refused for good. */
  | 'refused'
  /** Refused until later, such as by greylisting. */
  | 'deferred'
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'login'
  /** What is stored cannot be unsealed here; another replica may have the key. */
  | 'unreadable'
  | 'other';

export class MailFailure extends Error {
  readonly reason: MailFailureReason;
  /** The reply code of the mail server, when it gave one. */
  readonly status: number | null;
  constructor(reason: MailFailureReason, status: number | null = null, cause?: unknown) {
    super(`the mail was not accepted: ${reason}`, { cause });
    this.name = 'MailFailure';
    this.reason = reason;
    this.status = status;
  }
}

/** RFC 5321, 4.5.3.1.3, without the angle brackets. */
const MAX_ADDRESS_BYTES = 254;
const MAX_SUBJECT = 200;
/** Controls, separators of lines, and what changes the direction of text or cannot be seen. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;
/** What would end an address or begin another one where addresses are listed; quoted local parts are among it. */
const ADDRESS = /^[^\s@"(),:;<>[\\\]]+@[^\s@"(),:;<>[\\\]]+$/u;

/** Whether it can be read as one address and nothing else. */
export const isPlainAddress = (text: string): boolean =>
  ADDRESS.test(text) && text.search(INVISIBLE) === -1 && Buffer.byteLength(text) <= MAX_ADDRESS_BYTES;

/** With the domain as name servers know it; null when they can know none of that name. */
export const asciiAddress = (address: string): string | null => {
  const at = address.lastIndexOf('@') + 1;
  const domain = domainToASCII(address.slice(at));
  return domain === '' ? null : address.slice(0, at) + domain;
};

/** Throws `MailFailure` for an address that is not plain. The subject becomes one line. */
export const checkedMail = ({ id, to, subject, text, html }: OutgoingMail): OutgoingMail => {
  if (!isPlainAddress(to)) throw new MailFailure('address');
  return { id, to, subject: subject.replace(INVISIBLE, ' ').slice(0, MAX_SUBJECT), text, html };
};
