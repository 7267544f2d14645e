import { type Part, partsOf } from '@bubbles/services/deployment.ts';
import { stringify } from 'yaml';
import { type Component, externalSecrets, kedaRabbitmq, prometheus } from './components.ts';
import { arrowsOf, commonPolicies } from './network.ts';
import { isServer, layoutSettings, optionalSecretKeys, roleOf, secretKeys } from './settings.ts';
import { commandFiles, early, jobFiles, type Manifest, NEEDED_BY_JOBS, serverFiles } from './workloads.ts';

/** File contents by path below deploy/kubernetes. */
type Files = ReadonlyMap<string, string>;

const WRITTEN_BY = '# Written by `npm run kubernetes` from what the code says of the parts of a release.\n';

const yamlOf = (documents: readonly object[]): string =>
  WRITTEN_BY + documents.map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');

const namespace: Manifest = {
  apiVersion: 'v1',
  kind: 'Namespace',
  ...early('bubbles', {
    ...Object.fromEntries(['enforce', 'warn', 'audit'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted'])),
  }),
};

const kustomization = (kind: 'Kustomization' | 'Component', content: object) => ({
  apiVersion: kind === 'Component' ? 'kustomize.config.k8s.io/v1alpha1' : 'kustomize.config.k8s.io/v1beta1',
  kind,
  ...content,
});

const envFile = (settings: Readonly<Record<string, string>>): string =>
  WRITTEN_BY +
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const manifestsOf = (part: Part, parts: readonly Part[]) => {
  const own = isServer(part) ? serverFiles(part) : roleOf(part) === 'job' ? jobFiles(part) : commandFiles(part);
  return { ...own, networkpolicy: [arrowsOf(part, parts)] };
};

const base = (parts: readonly Part[]): Files => {
  const files = new Map([
    ['base/namespace.yaml', yamlOf([namespace])],
    ['base/networkpolicies.yaml', yamlOf(commonPolicies(parts))],
  ]);
  for (const part of parts)
    for (const [name, documents] of Object.entries(manifestsOf(part, parts)))
      files.set(`base/${part.name}/${name}.yaml`, yamlOf(documents));
  const resources = [...files.keys()].map((path) => path.slice('base/'.length));
  for (const part of parts) files.set(`base/${part.name}/settings.env`, envFile(layoutSettings(part, parts)));
  files.set(
    'base/kustomization.yaml',
    yamlOf([
      kustomization('Kustomization', {
        namespace: namespace.metadata.name,
        resources,
        // The name of a generated map contains a hash of its content, so that a changed setting starts new pods.
        configMapGenerator: parts.map(({ name }) => ({ name, envs: [`${name}/settings.env`] })),
        generatorOptions: { annotations: NEEDED_BY_JOBS },
      }),
    ]),
  );
  return files;
};

const componentFiles = (name: string, { files, patches }: Component): readonly (readonly [string, string])[] => [
  ...Object.entries(files).map(([file, documents]) => [`components/${name}/${file}.yaml`, yamlOf(documents)] as const),
  [
    `components/${name}/kustomization.yaml`,
    yamlOf([kustomization('Component', { resources: Object.keys(files).map((file) => `${file}.yaml`), ...(patches && { patches }) })]),
  ],
];

/** The manifests that follow from the parts; manifests that a platform edits are not generated. `alerts` holds the groups of alert rules. */
export const kubernetesFiles = (alerts: unknown, all: readonly Part[] = partsOf()): Files => {
  const parts = all.filter((part) => roleOf(part) !== null);
  return new Map([
    ...base(parts),
    ...componentFiles('prometheus', prometheus(parts, alerts)),
    ...componentFiles('keda-rabbitmq', kedaRabbitmq(parts)),
    ...componentFiles('external-secrets', externalSecrets(parts)),
  ]);
};

/** A Markdown table of the required and optional secret keys of each part. */
export const secretsTable = (all: readonly Part[] = partsOf()): string => {
  const names = (keys: readonly string[]) => keys.map((key) => `\`${key}\``).join(', ') || 'none';
  const rows = all
    .filter((part) => roleOf(part) !== null)
    .map((part) => `| \`${part.name}\` | ${names(secretKeys(part))} | ${names(optionalSecretKeys(part))} |`);
  return ['| Secret | keys that it must have | keys that it may have |', '|---|---|---|', ...rows, ''].join('\n');
};
