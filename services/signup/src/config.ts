import { domainToASCII } from 'node:url';
import { ConfigError } from '@bubbles/kernel/config.ts';
import { baseUrl, flag, parsedText, sealKeys, secret, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { MAIL_VARIABLES, openMailTransport } from '@bubbles/mail/open-transport.ts';
import type { MailTransport } from '@bubbles/mail/transport.ts';
import { z } from 'zod';
import type { ProviderSettings } from './adapters/calendar/oauth-provider.ts';
import type { OwnDomains } from './adapters/domains/domain-lists.ts';
import type { CalendarProviderName } from './domain/calendar.ts';

const DOMAIN = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/;

/** Names of domains, apart by blanks, commas or line ends; what follows a `#` in a line is a remark. */
const domains = () =>
  parsedText('must be a list of domain names such as example.com', (text): ReadonlySet<string> | null => {
    const names = text
      .replaceAll(/#.*$/gm, '')
      .split(/[\s,]+/)
      .filter((name) => name !== '');
    const ascii = names.map((name) => domainToASCII(name.toLowerCase()));
    return ascii.every((name) => DOMAIN.test(name)) ? new Set(ascii) : null;
  })
    .optional()
    .transform((names): ReadonlySet<string> => names ?? new Set());

const text = () => z.string().nullable().default(null);

export const VARIABLES = {
  // They seal mails and what users allowed of their calendars, and sign links; the first one seals and signs.
  SEAL_KEYS: sealKeys(),
  // Starts that one client of the network may make within an hour.
  SIGNUP_STARTS_PER_CLIENT: wholeNumber(1, 1_000_000).default(10),
  // Whether the deployment has an assistant connector, to which the end of a signup points.
  ASSISTANT_CONNECTOR: flag().default(false),
  // What this installation knows better than the lists of domains.
  SIGNUP_ALLOWED_DOMAINS: domains(),
  SIGNUP_DENIED_DOMAINS: domains(),
  SIGNUP_COMPANY_DOMAINS: domains(),
  SIGNUP_CONSUMER_DOMAINS: domains(),
  // Whether the DNS is asked if mail can be sent to the domain of an address.
  SIGNUP_MAIL_SERVER_LOOKUP: flag().default(false),
  // The OAuth clients that ask for calendars, and where their providers are.
  GOOGLE_CALENDAR_CLIENT_ID: text(),
  GOOGLE_CALENDAR_CLIENT_SECRET: secret(text()),
  GOOGLE_CALENDAR_CONSENT_URL: baseUrl().default('https://accounts.google.com/o/oauth2/v2/auth'),
  GOOGLE_CALENDAR_TOKEN_URL: baseUrl().default('https://oauth2.googleapis.com/token'),
  GOOGLE_CALENDAR_REVOCATION_URL: baseUrl().default('https://oauth2.googleapis.com/revoke'),
  MICROSOFT_CALENDAR_CLIENT_ID: text(),
  MICROSOFT_CALENDAR_CLIENT_SECRET: secret(text()),
  MICROSOFT_CALENDAR_CONSENT_URL: baseUrl().default('https://login.microsoftonline.com/common/oauth2/v2.0/authorize'),
  MICROSOFT_CALENDAR_TOKEN_URL: baseUrl().default('https://login.microsoftonline.com/common/oauth2/v2.0/token'),
  ...MAIL_VARIABLES,
};

type Values = { readonly [N in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[N]> };

/** What the sandbox sets in its own way. */
export interface Config {
  readonly mailTransport: (parts: Parameters<typeof openMailTransport>[1]) => MailTransport;
}

/** As in production. */
export const configOf = (values: Values): Config => ({ mailTransport: (parts) => openMailTransport(values, parts) });

export const ownDomainsOf = (values: Values): OwnDomains => ({
  allowed: values.SIGNUP_ALLOWED_DOMAINS,
  denied: values.SIGNUP_DENIED_DOMAINS,
  company: values.SIGNUP_COMPANY_DOMAINS,
  consumer: values.SIGNUP_CONSUMER_DOMAINS,
});

const clientOf = (values: Values, prefix: 'GOOGLE_CALENDAR' | 'MICROSOFT_CALENDAR'): ProviderSettings['client'] => {
  const [id, secret] = [values[`${prefix}_CLIENT_ID`], values[`${prefix}_CLIENT_SECRET`]];
  if (id === null && secret === null) return null;
  if (id === null || secret === null)
    throw new ConfigError([`${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET: one is given without the other`]);
  return { id, secret };
};

/** Throws `ConfigError` when a client id is given without its secret, or the other way round. */
export const calendarSettings = (values: Values, publicBaseUrl: string): Readonly<Record<CalendarProviderName, ProviderSettings>> => {
  const redirectUri = (name: CalendarProviderName) => `${publicBaseUrl}/connect/calendar/${name}/callback`;
  return {
    google: {
      name: 'google',
      client: clientOf(values, 'GOOGLE_CALENDAR'),
      consentUrl: values.GOOGLE_CALENDAR_CONSENT_URL,
      tokenUrl: values.GOOGLE_CALENDAR_TOKEN_URL,
      revocationUrl: values.GOOGLE_CALENDAR_REVOCATION_URL,
      redirectUri: redirectUri('google'),
    },
    microsoft: {
      name: 'microsoft',
      client: clientOf(values, 'MICROSOFT_CALENDAR'),
      consentUrl: values.MICROSOFT_CALENDAR_CONSENT_URL,
      tokenUrl: values.MICROSOFT_CALENDAR_TOKEN_URL,
      // Microsoft has no endpoint that takes a token back.
      revocationUrl: null,
      redirectUri: redirectUri('microsoft'),
    },
  };
};
