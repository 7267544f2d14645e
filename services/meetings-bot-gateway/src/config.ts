import { isLoopbackHost } from '@bubbles/address-guard/destination-url.ts';
import type { ServiceContext } from '@bubbles/host/service.ts';
import { ConfigError } from '@bubbles/kernel/config.ts';
import { base64Key, baseUrl, duration, localValues, parsedText, sealKeys, secret, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';
import { MEDIA_VARIABLES } from './adapters/media/open-media.ts';
import { MEETING_PLATFORMS, type MeetingPlatform } from './domain/meeting-link.ts';

export const SIMULATOR = 'simulator';
const HOSTED = ['recall', 'attendee', 'vexa'] as const;
export type ProviderName = (typeof HOSTED)[number];
const PROVIDERS: ReadonlySet<string> = new Set([...HOSTED, SIMULATOR]);
const RECALL_REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-northeast-1'] as const;
/** What providers are asked to keep recordings for. */
const DEFAULT_RETENTION_MS = 72 * 3_600_000;
const KEY_BYTES = 32;
const MAX_BOT_NAME = 100;
/** Each place is kept in one document. */
const MAX_QUOTA = 1000;
const MAX_SNAPSHOTS_PER_MINUTE = 100_000;

const isPlatform = (name: string): name is MeetingPlatform => MEETING_PLATFORMS.some((platform) => platform === name);

/** `google_meet=recall,zoom=attendee`: who serves each platform; the others are not supported. */
const platformRoutes = () =>
  parsedText(
    `must be a list of <platform>=<provider>; platforms: ${MEETING_PLATFORMS.join(', ')}; providers: ${[...PROVIDERS].join(', ')}`,
    (text) => {
      const routes = new Map<MeetingPlatform, string>();
      for (const entry of text.split(',')) {
        const [platform = '', provider = '', ...rest] = entry.trim().split('=');
        if (!isPlatform(platform) || routes.has(platform) || !PROVIDERS.has(provider) || rest.length > 0) return null;
        routes.set(platform, provider);
      }
      return routes;
    },
  );

/** Of an API whose paths we add. */
const providerUrl = () => baseUrl().refine((url) => !url.endsWith('/api/v1'), 'must not have the /api/v1 of its paths');
const isPrivate = (url: string): boolean => url.startsWith('https:') || isLoopbackHost(new URL(url).hostname);

/** What goes into a header as it is. */
const apiKey = () =>
  secret(z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks'))
    .nullable()
    .default(null);

const MIN_SECRET_BYTES = 16;
/** `newer,older`: each proves webhooks, so that a secret can be changed. `bytes` gives null for a malformed one. */
const webhookSecrets = (form: string, bytes: (text: string) => Buffer | null) =>
  secret(
    parsedText(`must be a list of secrets, ${form}, of ${MIN_SECRET_BYTES} bytes at least`, (text) => {
      const secrets = text.split(',').map((entry) => bytes(entry.trim()));
      return secrets.every((key) => key !== null && key.length >= MIN_SECRET_BYTES) ? secrets.filter((key) => key !== null) : null;
    }),
  )
    .nullable()
    .default(null);
const fromBase64 = (text: string): Buffer | null => (/^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null);

export const VARIABLES = {
  ...MEDIA_VARIABLES,
  SEAL_KEYS: sealKeys(),
  CURSOR_KEY: base64Key(KEY_BYTES),
  CURSOR_KEY_PREVIOUS: base64Key(KEY_BYTES).nullable().default(null),
  NOTETAKERS: platformRoutes().register(localValues, {
    kind: 'text',
    text: MEETING_PLATFORMS.map((platform) => `${platform}=${SIMULATOR}`).join(','),
  }),
  MEETINGS_PER_USER_AND_HOUR: wholeNumber(1, MAX_QUOTA).default(20),
  MEETINGS_PER_FREE_TEAM_AND_WEEK: wholeNumber(1, MAX_QUOTA).default(5),
  NOTETAKER_RETENTION: duration().default(DEFAULT_RETENTION_MS),
  /** Of each provider, over all replicas. */
  NOTETAKER_SNAPSHOTS_PER_MINUTE: wholeNumber(1, MAX_SNAPSHOTS_PER_MINUTE).default(150),
  NOTETAKER_NAME: z.string().min(1, 'must not be empty').max(MAX_BOT_NAME).default('Notetaker'),
  RECALL_REGION: z.enum(RECALL_REGIONS).nullable().default(null),
  // A server of one's own may be called over plain http, in its own network.
  RECALL_URL: providerUrl().refine(isPrivate, 'must be an https URL').nullable().default(null),
  RECALL_API_KEY: apiKey(),
  RECALL_WEBHOOK_SECRET: webhookSecrets('each whsec_ and base64', (text) =>
    text.startsWith('whsec_') ? fromBase64(text.slice('whsec_'.length)) : null,
  ),
  RECALL_TRANSCRIPTION: z.enum(['recallai_streaming', 'meeting_captions', 'none']).default('recallai_streaming'),
  ATTENDEE_URL: providerUrl().nullable().default(null),
  ATTENDEE_API_KEY: apiKey(),
  ATTENDEE_WEBHOOK_SECRET: webhookSecrets('each in base64', fromBase64),
  VEXA_URL: baseUrl().nullable().default(null),
  VEXA_API_KEY: apiKey(),
  VEXA_WEBHOOK_SECRET: webhookSecrets('each as it is', (text) => Buffer.from(text)),
};

export type Config = ServiceContext<typeof VARIABLES>['config'];

/** Where a provider is, and what proves who is who. */
export interface ProviderSettings {
  readonly url: string;
  readonly apiKey: string;
  /** Each proves a webhook. */
  readonly webhookSecrets: readonly Buffer[];
}

/** What a provider is told, by the variable that says it; null for what nobody said. */
const settingsOf = (config: Config, provider: ProviderName) => {
  const { RECALL_REGION, RECALL_URL } = config;
  const recallUrl = RECALL_URL ?? (RECALL_REGION && `https://${RECALL_REGION}.recall.ai`);
  return {
    recall: { url: recallUrl, apiKey: config.RECALL_API_KEY, webhookSecrets: config.RECALL_WEBHOOK_SECRET },
    attendee: { url: config.ATTENDEE_URL, apiKey: config.ATTENDEE_API_KEY, webhookSecrets: config.ATTENDEE_WEBHOOK_SECRET },
    vexa: { url: config.VEXA_URL, apiKey: config.VEXA_API_KEY, webhookSecrets: config.VEXA_WEBHOOK_SECRET },
  }[provider];
};

/** Of the providers that serve a platform. Throws with all settings that they lack. */
export const providerSettings = (config: Config): ReadonlyMap<ProviderName, ProviderSettings> => {
  const routed = new Set(config.NOTETAKERS.values());
  const faults: string[] = [];
  const settings = new Map<ProviderName, ProviderSettings>();
  for (const name of HOSTED.filter((provider) => routed.has(provider))) {
    const { url, apiKey, webhookSecrets } = settingsOf(config, name);
    if (url !== null && apiKey !== null && webhookSecrets !== null) settings.set(name, { url, apiKey, webhookSecrets });
    // The entries of a literal, whose keys `Object.entries` tells as text.
    const missing = Object.entries({ URL: url, API_KEY: apiKey, WEBHOOK_SECRET: webhookSecrets }).filter(([, value]) => value === null);
    for (const [variable] of missing) {
      const instead = name === 'recall' && variable === 'URL' ? ', or RECALL_REGION' : '';
      faults.push(`${name.toUpperCase()}_${variable}: is required, since NOTETAKERS names ${name}${instead}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return settings;
};
