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
  // SEAL_KEYS seals queued mails and the keys that sign assertions and access tokens.
  SEAL_KEYS: sealKeys(),
  OAUTH_ACCESS_TOKEN_LIFE: lasting([MINUTE_MS, '1m'], [DAY_MS, '1d'])
    .prefault('1h')
    .describe('How long an access token is good for, 1m to 1d'),
  OAUTH_CODE_LIFE: lasting([SECOND_MS, '1s'], [10 * MINUTE_MS, '10m'])
    .prefault('1m')
    .describe('How long an authorization code is good for, 1s to 10m'),
  OAUTH_REFRESH_LIFE: lasting([MINUTE_MS, '1m'], [365 * DAY_MS, '365d'])
    .prefault('30d')
    .describe('How long a refresh token is good for after its last use, 1m to 365d'),
  OAUTH_GRANT_LIFE: lasting([MINUTE_MS, '1m'], [3650 * DAY_MS, '3650d'])
    .prefault('365d')
    .describe('How long what a user allowed an app is good for at most, 1m to 3650d'),
  OAUTH_REFRESH_RACE_WINDOW: lasting([0, '0s'], [MINUTE_MS, '1m'])
    .prefault('2s')
    .describe('Within which time a second use of a refresh token does not end the grant, at most 1m; 0s for none'),
  OAUTH_CLIENT_DOCUMENTS: flag().default(true).describe('`0`: URLs of metadata documents are not taken as ids of clients'),
  OAUTH_CLIENT_DOCUMENTS_ALLOW_CIDRS: networkList()
    .default([])
    .describe('Networks that such documents may be fetched from although they are not public'),
  OAUTH_CLIENT_DOCUMENTS_DENY_CIDRS: networkList().default([]).describe('Networks that they are never fetched from'),
  OAUTH_CLIENT_DOCUMENTS_EXTRA_CA: certificates()
    .nullable()
    .default(null)
    .describe('Certificate authorities in PEM that are believed beside the built-in ones when they are fetched'),
  SIGN_IN_CODES_PER_CLIENT: wholeNumber(1, 1_000_000)
    .default(60)
    .describe('Codes of sign-in that one client of the network (an IPv6 /64 is one) may ask for in 10 minutes'),
  PRO_TRIAL: lasting([0, '0s'], [365 * DAY_MS, '365d'])
    .prefault('14d')
    .describe('How long a workspace that signs up is on plan pro, at most 365d; 0s for no trial'),
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

/** The configuration of production. */
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
