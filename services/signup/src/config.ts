import { flag, sealKeys, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { MAIL_VARIABLES, openMailTransport } from '@bubbles/mail/open-transport.ts';
import type { MailTransport } from '@bubbles/mail/transport.ts';
import type { z } from 'zod';

export const VARIABLES = {
  // They seal mails; the first one seals.
  SEAL_KEYS: sealKeys(),
  // Starts that one client of the network may make within an hour.
  SIGNUP_STARTS_PER_CLIENT: wholeNumber(1, 1_000_000).default(10),
  // Whether the deployment has an assistant connector, to which the end of a signup points.
  ASSISTANT_CONNECTOR: flag().default(false),
  ...MAIL_VARIABLES,
};

type Values = { readonly [N in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[N]> };

/** What the sandbox sets in its own way. */
export interface Config {
  readonly mailTransport: (parts: Parameters<typeof openMailTransport>[1]) => MailTransport;
}

/** As in production. */
export const configOf = (values: Values): Config => ({ mailTransport: (parts) => openMailTransport(values, parts) });
