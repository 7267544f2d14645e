import { isLoopbackHost, policyOf } from '@bubbles/address-guard/destination-url.ts';
import { createResolver } from '@bubbles/address-guard/resolver.ts';
import { ConfigError } from '@bubbles/kernel/config.ts';
import { baseUrl, certificates, flag, localValues, networkList, wholeNumber } from '@bubbles/kernel/config-values.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { z } from 'zod';
import type { MediaStore } from '../../ports.ts';
import { createDownloads } from './download.ts';
import { createFileStore } from './file-store.ts';

const GIB = 1024 ** 3;
const MAX_LIMIT_BYTES = 5 * 1024 * GIB;
const DEFAULT_LIMIT_BYTES = 20 * GIB;
const IDLE_MS = 60_000;
/** Signed links are long. */
const MAX_LINK_CHARACTERS = 16_384;

/** What it has to be told of recordings and of where providers keep them; see the README. */
export const MEDIA_VARIABLES = {
  MEDIA_FOLDER: z.string().nullable().default(null).register(localValues, { kind: 'folder', name: 'media' }),
  MEDIA_BASE_URL: baseUrl().nullable().default(null),
  MEDIA_MAX_BYTES: wholeNumber(1, MAX_LIMIT_BYTES).default(DEFAULT_LIMIT_BYTES),
  MEDIA_ALLOW_CIDRS: networkList().default([]),
  MEDIA_DENY_CIDRS: networkList().default([]),
  MEDIA_ALLOW_HTTP: flag().default(false),
  MEDIA_EXTRA_CA: certificates().nullable().default(null),
};

type MediaConfig = { readonly [N in keyof typeof MEDIA_VARIABLES]: z.output<(typeof MEDIA_VARIABLES)[N]> };

interface MediaOptions {
  readonly publicBaseUrl: string;
  /** Links of files may begin with http whatever their host is: the sandbox. */
  readonly mayBePlain: boolean;
  /** What stands before the store. */
  readonly through?: (store: MediaStore) => MediaStore;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Where files are reached; outside the sandbox over https, but for this machine itself. */
const baseOf = ({ MEDIA_BASE_URL: given }: MediaConfig, { publicBaseUrl, mayBePlain }: MediaOptions): string => {
  const base = given ?? `${publicBaseUrl}/media`;
  const { protocol, hostname } = new URL(base);
  if (protocol === 'https:' || mayBePlain || isLoopbackHost(hostname)) return base;
  throw new ConfigError([`MEDIA_BASE_URL: must be an https URL${given === null ? ', and is required as PUBLIC_BASE_URL is none' : ''}`]);
};

/** From where recordings are fetched, where they are kept, and under which links. Throws `ConfigError`. */
export const openMedia = (config: MediaConfig, options: MediaOptions) => {
  const { through = (store) => store } = options;
  const base = baseOf(config, options);
  const { MEDIA_FOLDER: folder } = config;
  if (folder === null) throw new ConfigError(['MEDIA_FOLDER: is required']);
  const files = createFileStore({ folder, ids: options.ids });
  const sources = {
    allow: config.MEDIA_ALLOW_CIDRS,
    deny: config.MEDIA_DENY_CIDRS,
    http: config.MEDIA_ALLOW_HTTP,
    loopback: false,
    offline: false,
    extraCa: config.MEDIA_EXTRA_CA === null ? [] : [config.MEDIA_EXTRA_CA],
  };
  const downloads = createDownloads({
    policy: { ...policyOf(sources), maxCharacters: MAX_LINK_CHARACTERS },
    resolver: createResolver(sources),
    extraCa: sources.extraCa,
    maxBytes: config.MEDIA_MAX_BYTES,
    idleMs: IDLE_MS,
  });
  return { ...downloads, ports: { media: through(files), served: files, mediaUrl: (key: string) => `${base}/${key}` } };
};
