import { keysetPage } from '@bubbles/kernel/cursors.ts';
import type { Page } from '../../ports.ts';

const DEFAULT_LIMIT = 200;

/** A page of a list that is sorted by id. */
export const pageById = async <T extends { readonly id: string }>(
  { after, limit }: { readonly after?: string; readonly limit?: string },
  list: (page: Page) => Promise<readonly T[]>,
) => {
  const shown = limit === undefined ? DEFAULT_LIMIT : Number(limit);
  return keysetPage({ rows: await list({ after: after ?? null, limit: shown + 1 }), limit: shown, encode: ({ id }) => id });
};
