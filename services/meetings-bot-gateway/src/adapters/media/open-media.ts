import { isLoopbackHost, policyOf } from '@bubbles/address-guard/destination-url.ts';
import { createResolver } from '@bubbles/address-guard/resolver.ts';
import { ConfigError } from '@bubbles/kernel/config.ts';
import { baseUrl, certificates, flag, localValues, networkList, secret, wholeNumber } from '@bubbles/kernel/config-values.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { z } from 'zod';
import type { MediaStore } from '../../ports.ts';
import { createDownloads } from './download.ts';
import { createFileStore } from './file-store.ts';
import { createS3Store, type S3Settings } from './s3-store.ts';

const GIB = 1024 ** 3;
const MAX_LIMIT_BYTES = 5 * 1024 * GIB;
const DEFAULT_LIMIT_BYTES = 20 * GIB;
const IDLE_MS = 60_000;
/** Signed links are long. */
const MAX_LINK_CHARACTERS = 16_384;

const bucketName = () => z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket');

/** Variables for the storage of recordings and for downloads from providers; see docs/configuration.md. */
export const MEDIA_VARIABLES = {
  MEDIA_FOLDER: z
    .string()
    .nullable()
    .default(null)
    .register(localValues, { kind: 'folder', name: 'media' })
    .describe('Without a bucket: a folder for the files of recordings, which all replicas share; the service serves them at `/media/`'),
  MEDIA_S3_BUCKET: bucketName()
    .nullable()
    .default(null)
    .describe(
      'The bucket for the files of recordings, of S3 or of a store compatible with it. A rule of the bucket should end uploads that are a day old',
    ),
  MEDIA_S3_ENDPOINT: baseUrl().nullable().default(null).describe('Where the bucket is, when not at `https://s3.<region>.amazonaws.com`'),
  MEDIA_S3_REGION: z.string().default('us-east-1').describe('The region of the bucket'),
  MEDIA_S3_PATH_STYLE: flag().default(false).describe('`1` for a store that takes the bucket in the path, not in the host'),
  MEDIA_S3_ACCESS_KEY_ID: z
    .string()
    .nullable()
    .default(null)
    .describe('A key that may put and delete objects there, list uploads in parts and end them. Required with a bucket'),
  MEDIA_S3_SECRET_ACCESS_KEY: secret(z.string()).nullable().default(null).describe('Its secret'),
  MEDIA_BASE_URL: baseUrl()
    .nullable()
    .default(null)
    .describe(
      'What links of recordings begin with: an https URL under which somebody serves the bucket, required with one; else it is `PUBLIC_BASE_URL` with `/media`',
    ),
  MEDIA_MAX_BYTES: wholeNumber(1, MAX_LIMIT_BYTES).default(DEFAULT_LIMIT_BYTES).describe('How large the file of a recording may be'),
  MEDIA_ALLOW_CIDRS: networkList()
    .default([])
    .describe('Networks that recordings are fetched from although they are not public, such as that of a provider of your own'),
  MEDIA_DENY_CIDRS: networkList().default([]).describe('Networks that they are never fetched from'),
  MEDIA_ALLOW_HTTP: flag().default(false).describe('`1`: recordings are fetched over plain http too'),
  MEDIA_EXTRA_CA: certificates()
    .nullable()
    .default(null)
    .describe('Certificate authorities in PEM that are believed beside the built-in ones when recordings are fetched'),
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

/** Null without a bucket. Throws with all settings that it lacks. */
const s3Of = (config: MediaConfig): S3Settings | null => {
  const { MEDIA_S3_BUCKET: bucket, MEDIA_S3_ACCESS_KEY_ID: accessKeyId, MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (bucket === null) return null;
  const { MEDIA_S3_REGION: region, MEDIA_S3_PATH_STYLE: pathStyle } = config;
  const endpoint = config.MEDIA_S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`;
  const required = {
    MEDIA_S3_ACCESS_KEY_ID: accessKeyId,
    MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey,
    MEDIA_BASE_URL: config.MEDIA_BASE_URL,
  };
  const missing = Object.entries(required).flatMap(([name, value]) =>
    value === null ? [`${name}: is required with MEDIA_S3_BUCKET`] : [],
  );
  if (accessKeyId === null || secretAccessKey === null || missing.length > 0) throw new ConfigError(missing);
  return { bucket, accessKeyId, secretAccessKey, region, pathStyle, endpoint };
};

/** A bucket where one is named, which others serve; else a folder, which this service does. */
const openStore = (config: MediaConfig, { ids }: MediaOptions) => {
  const { MEDIA_FOLDER: folder, MEDIA_MAX_BYTES: maxBytes } = config;
  const s3 = s3Of(config);
  if (s3 !== null) {
    const { close, ...store } = createS3Store({ ...s3, maxBytes });
    return { store, served: null, close };
  }
  if (folder === null) throw new ConfigError(['MEDIA_S3_BUCKET: is required, or MEDIA_FOLDER on a machine of your own']);
  const store = createFileStore({ folder, ids });
  return { store, served: store, close: () => Promise.resolve() };
};

/** From where recordings are fetched, where they are kept, and under which links. Throws `ConfigError`. */
export const openMedia = (config: MediaConfig, options: MediaOptions) => {
  const { through = (one) => one } = options;
  const { store, served, close } = openStore(config, options);
  const base = baseOf(config, options);
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
  const ports = { media: through(store), served, mediaUrl: (key: string) => `${base}/${key}` };
  return {
    ...downloads,
    ports,
    async close() {
      await Promise.all([downloads.close(), close()]);
    },
  };
};
