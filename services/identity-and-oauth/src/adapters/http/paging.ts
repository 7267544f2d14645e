import type { Page } from '../../ports.ts';

const DEFAULT_LIMIT = 200;

export const pageOf = ({ after, limit }: { after?: string; limit?: string }): Page => ({
  after: after ?? null,
  limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
});

/** Null when this page was the last. */
export const nextAfter = (rows: readonly { readonly id: string }[], { limit }: Page): string | null =>
  rows.length < limit ? null : (rows.at(-1)?.id ?? null);
