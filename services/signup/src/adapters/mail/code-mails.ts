import { markup } from '@bubbles/http/routes/markup.ts';
import type { createMailer } from '@bubbles/mail/mailer.ts';
import type { MailCode } from '../../ports.ts';

const PURPOSE = 'Your code to sign up:';
const LIFE = 'Your assistant asked for it. Tell it to that assistant only; it is good for 10 minutes.';
const UNASKED = 'If you did not ask an assistant to sign you up, somebody has given your address, and you need not do anything.';

/** The same mail for everybody, so that it does not tell whether there is an account. */
export const codeMails =
  ({ send }: Pick<ReturnType<typeof createMailer>, 'send'>): MailCode =>
  ({ flowId, to, code, until }) =>
    send({
      id: `signup-${flowId}`,
      to,
      subject: 'Your code to sign up',
      text: `${PURPOSE} ${code}\n\n${LIFE}\n\n${UNASKED}\n`,
      html: markup`<!doctype html><html lang="en"><body><p>${PURPOSE}</p><p><strong>${code}</strong></p><p>${LIFE}</p><p>${UNASKED}</p></body></html>`
        .text,
      dropAt: until,
    });
