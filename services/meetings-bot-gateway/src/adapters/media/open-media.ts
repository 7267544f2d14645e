import { policyOf } from '@bubbles/address-guard/destination-url.ts';
import { createResolver } from '@bubbles/address-guard/resolver.ts';
import { certificates, flag, networkList, wholeNumber } from '@bubbles/kernel/config-values.ts';
import type { z } from 'zod';
import { createDownloads } from './download.ts';

const GIB = 1024 ** 3;
const MAX_LIMIT_BYTES = 5 * 1024 * GIB;
const DEFAULT_LIMIT_BYTES = 20 * GIB;
const IDLE_MS = 60_000;
/** Signed links are long. */
const MAX_LINK_CHARACTERS = 16_384;

/** What it has to be told of recordings and of where providers keep them; see the README. */
export const MEDIA_VARIABLES = {
  MEDIA_MAX_BYTES: wholeNumber(1, MAX_LIMIT_BYTES).default(DEFAULT_LIMIT_BYTES),
  MEDIA_ALLOW_CIDRS: networkList().default([]),
  MEDIA_DENY_CIDRS: networkList().default([]),
  MEDIA_ALLOW_HTTP: flag().default(false),
  MEDIA_EXTRA_CA: certificates().nullable().default(null),
};

type MediaConfig = { readonly [N in keyof typeof MEDIA_VARIABLES]: z.output<(typeof MEDIA_VARIABLES)[N]> };

/** How recordings come here. */
export const openMedia = (config: MediaConfig) => {
  const sources = {
    allow: config.MEDIA_ALLOW_CIDRS,
    deny: config.MEDIA_DENY_CIDRS,
    http: config.MEDIA_ALLOW_HTTP,
    loopback: false,
    offline: false,
    extraCa: config.MEDIA_EXTRA_CA === null ? [] : [config.MEDIA_EXTRA_CA],
  };
  const { download, close } = createDownloads({
    policy: { ...policyOf(sources), maxCharacters: MAX_LINK_CHARACTERS },
    resolver: createResolver(sources),
    extraCa: sources.extraCa,
    maxBytes: config.MEDIA_MAX_BYTES,
    idleMs: IDLE_MS,
  });
  return { download, close };
};
