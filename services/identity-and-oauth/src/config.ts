import type { Destinations } from '@bubbles/address-guard/destination-url.ts';
import { certificates, duration, flag, networkList, sealKeys, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { MAIL_VARIABLES, openMailTransport } from '@bubbles/mail/open-transport.ts';
import type { MailTransport } from '@bubbles/mail/transport.ts';
import { z } from 'zod';
import type { OAuthLifetimes } from './domain/grant.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

const lasting = (shortest: readonly [ms: number, text: string], longest: readonly [ms: number, text: string]) =>
  duration().pipe(z.number().min(shortest[0], `must be at least ${shortest[1]}`).max(longest[0], `must be at most ${longest[1]}`));

export const VARIABLES = {
  // They seal the keys that sign assertions and access tokens, and mails; the first one seals.
  SEAL_KEYS: sealKeys(),
  OAUTH_ACCESS_TOKEN_LIFE: lasting([MINUTE_MS, '1m'], [DAY_MS, '1d']).default(60 * MINUTE_MS),
  OAUTH_CODE_LIFE: lasting([SECOND_MS, '1s'], [10 * MINUTE_MS, '10m']).default(MINUTE_MS),
  OAUTH_REFRESH_LIFE: lasting([MINUTE_MS, '1m'], [365 * DAY_MS, '365d']).default(30 * DAY_MS),
  OAUTH_GRANT_LIFE: lasting([MINUTE_MS, '1m'], [3650 * DAY_MS, '3650d']).default(365 * DAY_MS),
  OAUTH_REFRESH_RACE_WINDOW: lasting([0, '0s'], [MINUTE_MS, '1m']).default(2 * SECOND_MS),
  // Whether client metadata documents are fetched, and from where.
  OAUTH_CLIENT_DOCUMENTS: flag().default(true),
  OAUTH_CLIENT_DOCUMENTS_ALLOW_CIDRS: networkList().default([]),
  OAUTH_CLIENT_DOCUMENTS_DENY_CIDRS: networkList().default([]),
  OAUTH_CLIENT_DOCUMENTS_EXTRA_CA: certificates().nullable().default(null),
  // Codes of sign-in that one client of the network may ask for within ten minutes.
  SIGN_IN_CODES_PER_CLIENT: wholeNumber(1, 1_000_000).default(60),
  // How long a workspace that signs up is on plan pro; 0s for no trial.
  PRO_TRIAL: lasting([0, '0s'], [365 * DAY_MS, '365d']).default(14 * DAY_MS),
  ...MAIL_VARIABLES,
};

type Values = { readonly [N in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[N]> };

export const lifetimesOf = (values: Values): OAuthLifetimes => ({
  accessTokenMs: values.OAUTH_ACCESS_TOKEN_LIFE,
  codeMs: values.OAUTH_CODE_LIFE,
  refreshTokenMs: values.OAUTH_REFRESH_LIFE,
  grantMs: values.OAUTH_GRANT_LIFE,
  refreshRaceWindowMs: values.OAUTH_REFRESH_RACE_WINDOW,
});

/** What the sandbox sets in its own way. */
export interface Config {
  /** From where client metadata documents may be fetched; null when they are turned off. */
  readonly documents: Destinations | null;
  readonly mailTransport: (parts: Parameters<typeof openMailTransport>[1]) => MailTransport;
}

/** As in production. */
export const configOf = (values: Values): Config => ({
  mailTransport: (parts) => openMailTransport(values, parts),
  documents: values.OAUTH_CLIENT_DOCUMENTS
    ? {
        allow: values.OAUTH_CLIENT_DOCUMENTS_ALLOW_CIDRS,
        deny: values.OAUTH_CLIENT_DOCUMENTS_DENY_CIDRS,
        extraCa: values.OAUTH_CLIENT_DOCUMENTS_EXTRA_CA === null ? [] : [values.OAUTH_CLIENT_DOCUMENTS_EXTRA_CA],
        http: false,
        loopback: false,
        offline: false,
      }
    : null,
});
