import { duration } from '@bubbles/kernel/config-values.ts';

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;

const between = (minMs: number, maxMs: number, rule: string) => duration().refine((ms) => ms >= minMs && ms <= maxMs, rule);

/** How long what the OAuth server issues is good. */
export const OAUTH_VARIABLES = {
  OAUTH_ACCESS_TOKEN_LIFE: between(SECOND_MS, DAY_MS, 'must be from 1s to 1d').default(3_600_000),
};
