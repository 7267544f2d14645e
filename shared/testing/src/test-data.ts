import { readFileSync } from 'node:fs';

/** The text of a file in `shared/testing/data`, such as `certificates/ca.pem`. */
export const testData = (path: string): string => readFileSync(new URL(`../data/${path}`, import.meta.url), 'utf8');
