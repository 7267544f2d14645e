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
  // SEAL_KEYS seals queued mails and calendar grants, and signs links.
  SEAL_KEYS: sealKeys(),
  SIGNUP_STARTS_PER_CLIENT: wholeNumber(1, 1_000_000)
    .default(10)
    .describe('Signups that one client of the network (an IPv6 /64 is one) may start in an hour'),
  ASSISTANT_CONNECTOR: flag()
    .default(false)
    .describe('`1`: the deployment has an assistant connector, which the end of a signup points to'),
  SIGNUP_ALLOWED_DOMAINS: domains().describe(
    'Domains that may sign up though a list says that they are temporary; apart by blanks, commas or line ends, `#` before a remark',
  ),
  SIGNUP_DENIED_DOMAINS: domains().describe('Domains that may not sign up'),
  SIGNUP_COMPANY_DOMAINS: domains().describe('Domains that belong to one company, whatever the lists say'),
  SIGNUP_CONSUMER_DOMAINS: domains().describe('Domains that belong to no company'),
  SIGNUP_MAIL_SERVER_LOOKUP: flag()
    .default(false)
    .describe(
      '`1`: the DNS is asked, and an address at a domain without a mail server is refused; one that the DNS says nothing of within 2 seconds passes',
    ),
  GOOGLE_CALENDAR_CLIENT_ID: text().describe('The OAuth client that asks for calendars of Google; see calendars.md'),
  GOOGLE_CALENDAR_CLIENT_SECRET: secret(text()).describe('Its secret'),
  GOOGLE_CALENDAR_CONSENT_URL: baseUrl().default('https://accounts.google.com/o/oauth2/v2/auth').describe('Where users of Google consent'),
  GOOGLE_CALENDAR_TOKEN_URL: baseUrl().default('https://oauth2.googleapis.com/token').describe('Where Google exchanges codes for tokens'),
  GOOGLE_CALENDAR_REVOCATION_URL: baseUrl()
    .default('https://oauth2.googleapis.com/revoke')
    .describe('Where Google takes back what was allowed'),
  MICROSOFT_CALENDAR_CLIENT_ID: text().describe('The OAuth client that asks for calendars of Microsoft; see calendars.md'),
  MICROSOFT_CALENDAR_CLIENT_SECRET: secret(text()).describe('Its secret'),
  MICROSOFT_CALENDAR_CONSENT_URL: baseUrl()
    .default('https://login.microsoftonline.com/common/oauth2/v2.0/authorize')
    .describe('Where users of Microsoft consent'),
  MICROSOFT_CALENDAR_TOKEN_URL: baseUrl()
    .default('https://login.microsoftonline.com/common/oauth2/v2.0/token')
    .describe('Where Microsoft exchanges codes for tokens'),
  ...MAIL_VARIABLES,
};

type Values = { readonly [N in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[N]> };

/** What the sandbox sets in its own way. */
export interface Config {
  readonly mailTransport: (parts: Parameters<typeof openMailTransport>[1]) => MailTransport;
}

/** The configuration of production. */
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
