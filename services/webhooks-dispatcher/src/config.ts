import type { Destinations } from '@bubbles/address-guard/destination-url.ts';
import type { ServiceContext } from '@bubbles/host/service.ts';
import { baseUrl, certificates, flag, localValues, networkList, sealKeys, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { CURSOR_VARIABLES } from '@bubbles/kernel/cursors.ts';
import type { SealKey } from '@bubbles/kernel/seal.ts';
import { z } from 'zod';
import type { DeliveryLoopLimits } from './delivery-loop/delivery-loop.ts';
import type { SubscriptionQuota } from './domain/subscription.ts';

/** What the dispatcher itself has to know. */
export interface Config {
  /** The service-specific part of the header names, `X-<name>-Signature`. */
  readonly headerName: string;
  readonly userAgent: string;
  /** Where the link of a made-up recording leads, without a trailing slash; what is sent of real ones has theirs. */
  readonly appBaseUrl: string;
  /** Seal the secrets of subscriptions; the first one seals. */
  readonly sealKeys: readonly SealKey[];
  /** Authenticate the cursors of the delivery log. */
  readonly cursorKeys: { readonly current: Buffer; readonly previous: Buffer | null };
  readonly receivers: Destinations;
  readonly timing: {
    readonly deadlineMs: number;
    readonly connectMs: number;
    /** How often to look for work that nobody announced. */
    readonly pollMs: number;
  };
  readonly limits: DeliveryLoopLimits;
  readonly quota: SubscriptionQuota;
}

export const PRODUCTION_TIMING: Config['timing'] = { deadlineMs: 15_000, connectMs: 5000, pollMs: 1000 };
export const PRODUCTION_LIMITS: DeliveryLoopLimits = {
  perSubscription: 4,
  perOrigin: 64,
  perProcess: 256,
  reservedForFirst: 64,
  forTimedOut: 64,
  leaseMs: 60_000,
  claimWindowMs: 2,
};

export const DEFAULT_QUOTA: SubscriptionQuota = { perUser: 100, perTeam: 1000, testsPerMinute: 60 };
/** A user's list is answered whole when no page is asked for. */
const MAX_QUOTA = 10_000;
/** Each is remembered in the subscription for a minute. */
const MAX_TESTS = 600;

/** The lease must outlive an attempt with the time to record it, or a second worker would post beside the first. */
export function checkTiming({ timing, limits }: Pick<Config, 'timing' | 'limits'>): void {
  if (limits.leaseMs < 2 * timing.deadlineMs) throw new Error('the lease of a delivery must be at least twice the deadline of an attempt');
  if (limits.reservedForFirst >= limits.perProcess) throw new Error('not every slot can be kept for first attempts');
}

const MAX_HEADER_NAME = 64;
const MAX_USER_AGENT = 256;
/** What every server takes as the value of a header (RFC 9110, 5.5). */
const FIELD_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

export const VARIABLES = {
  APP_BASE_URL: baseUrl()
    .nullable()
    .default(null)
    .register(localValues, { kind: 'text', text: 'https://app.example.com' })
    .describe('Origin and path that links to recordings begin with, for people; the same for both services'),
  SEAL_KEYS: sealKeys(),
  ...CURSOR_VARIABLES,
  WEBHOOK_HEADER_NAME: z
    .string()
    .max(MAX_HEADER_NAME, `must have at most ${MAX_HEADER_NAME} characters`)
    .regex(/^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/, 'must be a part of a header name')
    .default('Service')
    .describe('The part of header names that is yours: `X-<name>-Signature`'),
  WEBHOOK_USER_AGENT: z
    .string()
    .max(MAX_USER_AGENT, `must have at most ${MAX_USER_AGENT} characters`)
    .regex(FIELD_VALUE, 'must be printable ASCII without a blank at either end')
    .default('recordings-webhooks/1')
    .describe('The `User-Agent` of deliveries'),
  WEBHOOK_ALLOW_CIDRS: networkList().default([]).describe('Networks of receivers that are admitted although they are not public'),
  WEBHOOK_DENY_CIDRS: networkList().default([]).describe('Networks of receivers that are refused although they are public'),
  WEBHOOK_ALLOW_HTTP: flag().default(false).describe('`1`: receivers may be http, not only https'),
  WEBHOOK_EXTRA_CA: certificates()
    .nullable()
    .default(null)
    .describe('Certificate authorities in PEM that are believed beside the built-in ones when deliveries are sent'),
  WEBHOOK_MAX_PER_USER: wholeNumber(1, MAX_QUOTA).default(DEFAULT_QUOTA.perUser).describe('Subscriptions that one user may have'),
  WEBHOOK_MAX_PER_TEAM: wholeNumber(1, MAX_QUOTA)
    .default(DEFAULT_QUOTA.perTeam)
    .describe('Subscriptions that the members of a team may have together'),
  WEBHOOK_TESTS_PER_MINUTE: wholeNumber(1, MAX_TESTS)
    .default(DEFAULT_QUOTA.testsPerMinute)
    .describe('Tests of one subscription in a minute'),
};

/** The configuration of production. */
export const configOf = ({ config: read, publicBaseUrl }: Pick<ServiceContext<typeof VARIABLES>, 'config' | 'publicBaseUrl'>): Config => ({
  headerName: read.WEBHOOK_HEADER_NAME,
  userAgent: read.WEBHOOK_USER_AGENT,
  appBaseUrl: read.APP_BASE_URL ?? publicBaseUrl,
  sealKeys: read.SEAL_KEYS,
  cursorKeys: { current: read.CURSOR_KEY, previous: read.CURSOR_KEY_PREVIOUS },
  receivers: {
    allow: read.WEBHOOK_ALLOW_CIDRS,
    deny: read.WEBHOOK_DENY_CIDRS,
    http: read.WEBHOOK_ALLOW_HTTP,
    loopback: false,
    offline: false,
    extraCa: read.WEBHOOK_EXTRA_CA === null ? [] : [read.WEBHOOK_EXTRA_CA],
  },
  timing: PRODUCTION_TIMING,
  limits: PRODUCTION_LIMITS,
  quota: {
    perUser: read.WEBHOOK_MAX_PER_USER,
    perTeam: read.WEBHOOK_MAX_PER_TEAM,
    testsPerMinute: read.WEBHOOK_TESTS_PER_MINUTE,
  },
});
