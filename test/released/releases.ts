import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Fragment, readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { mergeFragments } from '@bubbles/gateway/documents/merge.ts';
import { OWNED_PREFIXES } from '@bubbles/gateway/documents/ownership.ts';
import { DOCUMENT_HEAD } from '@bubbles/gateway/pages/document-head.ts';
import { z } from 'zod';
import { ROOT } from '../architecture/sources.ts';

export type Json = Readonly<Record<string, unknown>>;
export const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
export const readJson = (path: string | URL): unknown => JSON.parse(readFileSync(path, 'utf8'));
export const written = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const CONTRACTS = join(ROOT, 'contracts');
export const RELEASED = join(CONTRACTS, 'released');
export const folderOf = (release: number): string => join(RELEASED, String(release));

const Running = z.strictObject({
  running: z.array(z.int().positive()).min(1).meta({ description: 'The releases of which a process may still run, the newest included' }),
});
const Exceptions = z.strictObject({
  exceptions: z.array(
    z.strictObject({
      producer: z.string(),
      /** The method and path of an internal endpoint, or the type of an event. */
      place: z.string(),
      /** The change as the check words it. */
      change: z.string(),
      reason: z.string().min(20, 'must say in a sentence why nobody is hurt'),
      /** The last release that may be made with it. */
      untilRelease: z.int().positive(),
    }),
  ),
});
export type Exception = z.infer<typeof Exceptions>['exceptions'][number];

export const allReleases = (): readonly number[] =>
  globSync('[0-9]*', { cwd: RELEASED })
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
export const latestRelease = (): number => allReleases().at(-1) ?? 0;

/** Throws when the newest is missing among them, or one that was never made is there. */
export const runningReleases = (): readonly number[] => {
  if (allReleases().length === 0) return [];
  const { running } = Running.parse(readJson(join(RELEASED, 'running.json')));
  const known = allReleases();
  const unknown = running.filter((release) => !known.includes(release));
  if (unknown.length > 0) throw new Error(`contracts/released/running.json names release ${unknown.join(', ')}, which was never made`);
  const latest = latestRelease();
  if (!running.includes(latest)) throw new Error(`contracts/released/running.json leaves out release ${latest}, which is the newest`);
  return running;
};
export const exceptions = (): readonly Exception[] => {
  const path = join(RELEASED, 'exceptions.json');
  return existsSync(path) ? Exceptions.parse(readJson(path)).exceptions : [];
};

/** What a release, or the tree, says of its interfaces. */
export interface Documents {
  /** The public one, as the gateway merges it. */
  readonly merged: Json;
  readonly services: Readonly<Record<string, Json>>;
  readonly events: Json;
}

const objectAt = (path: string): Json => {
  const value = readJson(path);
  if (!isJson(value)) throw new TypeError(`${path} holds no object`);
  return value;
};

const servicesIn = (folder: string): Documents['services'] =>
  Object.fromEntries(
    globSync('openapi/*.json', { cwd: folder })
      .sort()
      .map((path) => [basename(path, '.json'), objectAt(join(folder, path))]),
  );

export const mergedFrom = (services: Documents['services']): Json => {
  const fragments: readonly Fragment[] = Object.entries(services).map(([service, document]) => {
    const fragment = readFragment(service, document);
    if ('code' in fragment) throw new Error(`${service}: ${fragment.code}: ${fragment.detail}`);
    return fragment;
  });
  const { document, conflicts } = mergeFragments({ head: DOCUMENT_HEAD, fragments, prefixes: OWNED_PREFIXES });
  if (document === null) throw new Error(conflicts.map(({ service, code, detail }) => `${service}: ${code}: ${detail}`).join('\n'));
  return document;
};

/** Of the files that `npm run documents` holds to the code. */
export const currentDocuments = (): Documents => {
  const services = servicesIn(CONTRACTS);
  return { merged: mergedFrom(services), services, events: objectAt(join(CONTRACTS, 'asyncapi.json')) };
};

export const documentsOf = (release: number): Documents => {
  const folder = folderOf(release);
  return {
    merged: objectAt(join(folder, 'openapi.json')),
    services: servicesIn(folder),
    events: objectAt(join(folder, 'asyncapi.json')),
  };
};
