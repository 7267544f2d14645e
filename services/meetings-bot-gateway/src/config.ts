import { base64Key, localValues, parsedText, sealKeys, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';
import { MEDIA_VARIABLES } from './adapters/media/open-media.ts';
import { MEETING_PLATFORMS, type MeetingPlatform } from './domain/meeting-link.ts';

export const SIMULATOR = 'simulator';
const PROVIDERS: ReadonlySet<string> = new Set([SIMULATOR]);
const KEY_BYTES = 32;
const MAX_BOT_NAME = 100;
/** Each place is kept in one document. */
const MAX_QUOTA = 1000;

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
  NOTETAKER_NAME: z.string().min(1, 'must not be empty').max(MAX_BOT_NAME).default('Notetaker'),
};
