import { markup } from '@bubbles/http/routes/markup.ts';
import type { createMailer } from '@bubbles/mail/mailer.ts';
import type { MailCode } from '../../sign-in-ports.ts';

const PURPOSE = 'Your code to sign in:';
const LIFE = 'It is good for 10 minutes, in the browser in which you asked for it. Tell it to nobody.';
const UNASKED = 'If you did not ask for it, somebody has typed your address, and you need not do anything.';

/** The same mail for everybody, so that it does not tell whether there is an account. */
export const codeMails =
  ({ send }: Pick<ReturnType<typeof createMailer>, 'send'>): MailCode =>
  ({ signInId, to, code, until }) =>
    send({
      id: `sign-in-${signInId}`,
      to,
      subject: 'Your code to sign in',
      text: `${PURPOSE} ${code}\n\n${LIFE}\n\n${UNASKED}\n`,
      html: markup`<!doctype html><html lang="en"><body><p>${PURPOSE}</p><p><strong>${code}</strong></p><p>${LIFE}</p><p>${UNASKED}</p></body></html>`
        .text,
      dropAt: until,
    });
