import type { MailTransport, OutgoingMail } from '@bubbles/mail/transport.ts';

export interface FakeMailTransport extends MailTransport {
  /** Oldest first. */
  readonly accepted: OutgoingMail[];
  /** What the next attempts come to; each that has none is accepted. */
  readonly answers: (() => Promise<void>)[];
}

/** A mail server that accepts what it is not told to refuse. */
export const fakeMailTransport = (): FakeMailTransport => {
  const accepted: OutgoingMail[] = [];
  const answers: (() => Promise<void>)[] = [];
  return {
    accepted,
    answers,
    async deliver(mail) {
      await answers.shift()?.();
      accepted.push(mail);
    },
    close: () => Promise.resolve(),
  };
};
