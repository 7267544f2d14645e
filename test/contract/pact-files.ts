import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../architecture/sources.ts';

export const KEPT = join(ROOT, 'contracts/pacts');
/** Where consumers write; a run that fails leaves the kept ones as they are. */
export const WRITTEN = join(ROOT, 'node_modules/.cache/pacts');

/** What a run says: all that was printed, and the breaches alone. */
export const REPORTS = join(ROOT, 'node_modules/.cache/contracts');
export const BREACHES = join(REPORTS, 'breaches.txt');

export const PactFile = z.looseObject({
  consumer: z.object({ name: z.string() }),
  provider: z.object({ name: z.string() }),
  interactions: z.array(
    z.looseObject({
      description: z.string(),
      providerStates: z.array(z.object({ name: z.string() })).default([]),
      /** Absent of a message. */
      request: z
        .looseObject({
          method: z.string(),
          path: z.string(),
          query: z.record(z.string(), z.array(z.string())).default({}),
          headers: z.record(z.string(), z.array(z.string())).default({}),
          body: z.looseObject({ content: z.unknown(), contentType: z.string() }).optional(),
        })
        .optional(),
    }),
  ),
});
export type PactFile = z.infer<typeof PactFile>;

const namesIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();

export interface KeptPact {
  /** What the verifier is given. */
  readonly path: string;
  readonly pact: PactFile;
}

export const keptNames = (): readonly string[] => namesIn(KEPT);

export const pactsIn = (folder: string): readonly KeptPact[] =>
  namesIn(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, pact: PactFile.parse(JSON.parse(readFileSync(path, 'utf8'))) }));
export const everyPact = (): readonly KeptPact[] => pactsIn(KEPT);

export const pactsOf = (provider: string): readonly KeptPact[] => everyPact().filter(({ pact }) => pact.provider.name === provider);

const hasNullMatcher = (rules: unknown): boolean =>
  Array.isArray(rules) && rules.some((rule) => typeof rule === 'object' && rule !== null && 'match' in rule && rule.match === 'null');

/** The writer combines every list of matchers by AND, which no value can satisfy when one of them is `null`. */
const withAlternatives = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withAlternatives);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, withAlternatives(inner)] as const);
  return { ...Object.fromEntries(entries), ...('matchers' in value && hasNullMatcher(value.matchers) && { combine: 'OR' }) };
};

const VERSIONS_OF_THE_WRITER = ['pact-js', 'pactRust'];

/** The file as it is kept: nullable fields may be null, and no version of the writer that would change it with every update. */
export const normalised = (pact: object): object =>
  Object.fromEntries(
    Object.entries(pact).map(([key, value]: [string, unknown]) => {
      if (key !== 'metadata' || typeof value !== 'object' || value === null) return [key, withAlternatives(value)];
      return [key, Object.fromEntries(Object.entries(value).filter(([name]) => !VERSIONS_OF_THE_WRITER.includes(name)))];
    }),
  );

/** Writing merges into what is there: consumers begin from nothing. */
export const clearWritten = (): void => {
  rmSync(WRITTEN, { recursive: true, force: true });
  mkdirSync(WRITTEN, { recursive: true });
};

/** Puts what the consumers wrote, all of them, in the place of the pacts that were kept. */
export const keepWritten = (): void => {
  mkdirSync(KEPT, { recursive: true });
  for (const name of namesIn(KEPT)) rmSync(join(KEPT, name));
  for (const name of namesIn(WRITTEN)) {
    const pact: object = JSON.parse(readFileSync(join(WRITTEN, name), 'utf8'));
    writeFileSync(join(KEPT, name), `${JSON.stringify(normalised(pact), null, 2)}\n`);
  }
};
