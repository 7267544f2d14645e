import { isLoopbackHost } from '@bubbles/address-guard/destination-url.ts';
import type { ServiceContext } from '@bubbles/host/service.ts';
import { ConfigError } from '@bubbles/kernel/config.ts';
import { baseUrl, duration, localValues, parsedText, sealKeys, secret, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { CURSOR_VARIABLES } from '@bubbles/kernel/cursors.ts';
import { z } from 'zod';
import { MEDIA_VARIABLES } from './adapters/media/open-media.ts';
import { MEETING_PLATFORMS, type MeetingPlatform } from './domain/meeting-link.ts';

export const SIMULATOR = 'simulator';
const HOSTED = ['recall', 'attendee', 'vexa'] as const;
export type ProviderName = (typeof HOSTED)[number];
const PROVIDERS: ReadonlySet<string> = new Set([...HOSTED, SIMULATOR]);
const RECALL_REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-northeast-1'] as const;
const MAX_BOT_NAME = 100;
/** Each place is kept in one document. */
const MAX_QUOTA = 1000;
const MAX_SNAPSHOTS_PER_MINUTE = 100_000;

const isPlatform = (name: string): name is MeetingPlatform => MEETING_PLATFORMS.some((platform) => platform === name);

/** `google_meet=recall,zoom=attendee`: the provider of each platform; platforms that are not listed are unsupported. */
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

/** Base URL of an API, without the paths that the adapter adds. */
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
  ...CURSOR_VARIABLES,
  NOTETAKERS: platformRoutes()
    .register(localValues, {
      kind: 'text',
      text: MEETING_PLATFORMS.map((platform) => `${platform}=${SIMULATOR}`).join(','),
    })
    .describe(
      'Who serves each platform: `google_meet=recall,zoom=attendee`. Providers are `recall`, `attendee`, `vexa` and `simulator`, platforms `google_meet`, `microsoft_teams`, `zoom`, `webex` and `goto_meeting`. A join of one that is not named ends at once, with `platform_not_supported`',
    ),
  MEETINGS_PER_USER_AND_HOUR: wholeNumber(1, MAX_QUOTA).default(20).describe('Notetakers that one person may send in an hour'),
  MEETINGS_PER_FREE_TEAM_AND_WEEK: wholeNumber(1, MAX_QUOTA)
    .default(5)
    .describe('Meetings that a team on plan free may record in a week from Monday, 00:00 UTC'),
  NOTETAKER_RETENTION: duration()
    .prefault('72h')
    .describe(
      'For how long providers keep a recording after its meeting. What could not be captured by then is lost: the join stays done, and its history says what is missing',
    ),
  NOTETAKER_SNAPSHOTS_PER_MINUTE: wholeNumber(1, MAX_SNAPSHOTS_PER_MINUTE)
    .default(150)
    .describe('How often a provider is asked in a minute where its notetakers are, over all replicas; looks that do not fit wait'),
  NOTETAKER_NAME: z
    .string()
    .min(1, 'must not be empty')
    .max(MAX_BOT_NAME)
    .default('Notetaker')
    .describe('The name that the notetaker has in a call'),
  RECALL_REGION: z
    .enum(RECALL_REGIONS)
    .nullable()
    .default(null)
    .describe(
      'The region of Recall.ai: `us-east-1`, `us-west-2`, `eu-central-1` or `ap-northeast-1`. It or `RECALL_URL` is required when `NOTETAKERS` names recall',
    ),
  // A server of one's own may be called over plain http, in its own network.
  RECALL_URL: providerUrl()
    .refine(isPrivate, 'must be an https URL')
    .nullable()
    .default(null)
    .describe('The origin of the API of Recall.ai, in place of a region'),
  RECALL_API_KEY: apiKey().describe('Proves us to Recall.ai'),
  RECALL_WEBHOOK_SECRET: webhookSecrets('each whsec_ and base64', (text) =>
    text.startsWith('whsec_') ? fromBase64(text.slice('whsec_'.length)) : null,
  ).describe('Proves webhooks of Recall.ai; several are separated by commas, the newest first'),
  RECALL_TRANSCRIPTION: z
    .enum(['recallai_streaming', 'meeting_captions', 'none'])
    .default('recallai_streaming')
    .describe('What Recall.ai transcribes with: `recallai_streaming`, `meeting_captions` or `none`'),
  ATTENDEE_URL: providerUrl()
    .nullable()
    .default(null)
    .describe('The origin of an Attendee server. Required when `NOTETAKERS` names attendee, with the next two'),
  ATTENDEE_API_KEY: apiKey().describe('Proves us to the Attendee server'),
  ATTENDEE_WEBHOOK_SECRET: webhookSecrets('each in base64', fromBase64).describe(
    'Proves its webhooks: in base64, as it shows them; several are separated by commas, the newest first',
  ),
  VEXA_URL: baseUrl()
    .nullable()
    .default(null)
    .describe('The origin of a Vexa server. Required when `NOTETAKERS` names vexa, with the next two'),
  VEXA_API_KEY: apiKey().describe('Proves us to the Vexa server'),
  VEXA_WEBHOOK_SECRET: webhookSecrets('each as it is', (text) => Buffer.from(text)).describe(
    'Proves its webhooks; several are separated by commas, the newest first',
  ),
};

export type Config = ServiceContext<typeof VARIABLES>['config'];

/** URL and credentials of a provider. */
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

/** Settings of the providers in use. Throws with the names of all missing settings. */
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
