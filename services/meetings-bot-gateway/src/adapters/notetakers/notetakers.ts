import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import { type Config, type ProviderName, type ProviderSettings, providerSettings, SIMULATOR } from '../../config.ts';
import type { Download, Notetaker, Notetakers, Simulator } from '../../ports.ts';
import { createAttendee } from './attendee.ts';
import { createProviderHttp, type ProviderCalled, type ProviderHttp } from './provider-http.ts';
import { createRecall } from './recall.ts';
import { createSimulator, type SimulatedRunDoc } from './simulator.ts';
import { createVexa } from './vexa.ts';
import { withinBounds } from './within-bounds.ts';

interface OpenOptions {
  readonly config: Config;
  /** Runs of the simulator. */
  readonly runs: Collection<SimulatedRunDoc>;
  readonly seal: Seal;
  readonly called: ProviderCalled;
  readonly download: Download;
  readonly downloadDocument: Download;
  readonly clock: Clock;
  readonly log: Log;
}

interface OpenNotetakers extends Notetakers {
  /** Null where it serves no platform. */
  readonly simulator: Simulator | null;
  close(): Promise<void>;
}

/** What an adapter is made of. */
interface ProviderContext extends Pick<OpenOptions, 'clock' | 'config' | 'download' | 'downloadDocument' | 'log'> {
  readonly settings: ProviderSettings;
  readonly http: ProviderHttp;
}

interface Provider {
  /** Authentication of its calls. */
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  readonly create: (context: ProviderContext) => Notetaker;
}
const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  recall: {
    headers: (apiKey) => ({ authorization: `Token ${apiKey}` }),
    create: ({ config, ...context }) =>
      createRecall({ ...context, transcription: config.RECALL_TRANSCRIPTION, retentionMs: config.NOTETAKER_RETENTION }),
  },
  attendee: { headers: (apiKey) => ({ authorization: `Token ${apiKey}` }), create: createAttendee },
  vexa: { headers: (apiKey) => ({ 'x-api-key': apiKey }), create: createVexa },
};

/** The providers that serve platforms. Throws when one lacks a setting. */
export const openNotetakers = ({ runs, seal, ...context }: OpenOptions): OpenNotetakers => {
  const routes = context.config.NOTETAKERS;
  const opened = [...providerSettings(context.config)].map(([name, settings]) => {
    const { headers, create } = PROVIDERS[name];
    const http = createProviderHttp({ ...context, provider: name, baseUrl: settings.url, headers: headers(settings.apiKey) });
    return { http, notetaker: withinBounds(create({ ...context, settings, http }), context.clock) };
  });
  const simulator = [...routes.values()].includes(SIMULATOR) ? createSimulator({ runs, seal, clock: context.clock }) : null;
  const notetakers = [...opened.map(({ notetaker }) => notetaker), ...(simulator === null ? [] : [simulator])];
  const byName = new Map(notetakers.map((notetaker) => [notetaker.name, notetaker]));
  const named = (name: string) => byName.get(name) ?? null;
  return {
    simulator,
    named,
    forPlatform(platform) {
      const name = routes.get(platform);
      return name === undefined ? null : named(name);
    },
    async close() {
      await Promise.all(opened.map(({ http }) => http.close()));
    },
  };
};
