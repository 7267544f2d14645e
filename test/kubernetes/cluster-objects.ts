import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

export const MANIFESTS = join(import.meta.dirname, '../../deploy/kubernetes');
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

const Manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
});
export type Manifest = z.infer<typeof Manifest>;

/** Of a folder with a kustomization, what would be sent to a cluster. */
export const rendered = (folder: string): string =>
  execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES });

export const manifestsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.contents === null ? [] : Manifest.parse(document.toJS())));

export const ofKind = (manifests: readonly Manifest[], ...kinds: readonly string[]): readonly Manifest[] =>
  manifests.filter(({ kind }) => kinds.includes(kind));

/** `spec.containers.0.name`; undefined where there is nothing. */
export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;
export const listAt = (value: unknown, path: string): readonly unknown[] => {
  const found = at(value, path);
  return Array.isArray(found) ? found : [];
};
export const textAt = (value: unknown, path: string): string => {
  const found = at(value, path);
  return typeof found === 'string' ? found : '';
};
export const numberAt = (value: unknown, path: string): number => {
  const found = at(value, path);
  return typeof found === 'number' ? found : Number.NaN;
};

/** Where a pod is described in what makes it; null for what makes none. */
const TEMPLATES: Readonly<Record<string, string>> = {
  Deployment: 'spec.template',
  StatefulSet: 'spec.template',
  Job: 'spec.template',
  CronJob: 'spec.jobTemplate.spec.template',
};

/** A pod as it would be made, with what would make it. */
export interface Pod {
  readonly owner: Manifest;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: unknown;
  readonly container: unknown;
}

export const podsOf = (manifests: readonly Manifest[]): readonly Pod[] =>
  ofKind(manifests, ...Object.keys(TEMPLATES)).map((owner) => {
    const template = at(owner, TEMPLATES[owner.kind] ?? '');
    const labels = z.record(z.string(), z.string()).parse(at(template, 'metadata.labels'));
    return { owner, labels, spec: at(template, 'spec'), container: at(template, 'spec.containers.0') };
  });

export const PART_NAME = 'app.kubernetes.io/name';
/** Pods of the product, not of engines that an overlay brings. */
export const partPods = (manifests: readonly Manifest[]): readonly Pod[] =>
  podsOf(manifests).filter(({ labels }) => labels['app.kubernetes.io/part-of'] === 'bubbles');
export const nameOf = ({ labels }: Pod): string => labels[PART_NAME] ?? '';

/** Its settings, by the map that its environment comes from. */
export const settingsOf = (pod: Pod, manifests: readonly Manifest[]): Readonly<Record<string, string>> => {
  const names = listAt(pod.container, 'envFrom').map((source) => textAt(source, 'configMapRef.name'));
  const maps = ofKind(manifests, 'ConfigMap').filter(({ metadata }) => names.includes(metadata.name));
  return Object.assign({}, ...maps.map((map) => z.record(z.string(), z.string()).parse(at(map, 'data') ?? {})));
};

const Selector = z.object({
  matchLabels: z.record(z.string(), z.string()).default({}),
  matchExpressions: z.array(z.object({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) })).default([]),
});
export const selects = (selector: unknown, labels: Readonly<Record<string, string>>): boolean => {
  const { matchLabels, matchExpressions } = Selector.parse(selector);
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  );
};
