import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { MANIFESTS, manifestsIn, rendered } from './cluster-objects.ts';

const KUBERNETES = '1.37';
/** Of kinds that a cluster learns from others. */
const UNKNOWN =
  /Couldn't find schema for kind (HTTPRoute|ExternalSecret|ServiceMonitor|PrometheusRule|ScaledObject|TriggerAuthentication) /;
const run = promisify(execFile);
const work = mkdtempSync(join(tmpdir(), 'manifests-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** What is not as the schemas of Kubernetes want it, field by field; unknown fields too. */
const faultsIn = async (name: string, text: string): Promise<readonly string[]> => {
  const file = join(work, `${name}.yaml`);
  writeFileSync(file, text);
  const ended: { readonly stdout?: string; readonly stderr?: string } = await run('kubernetes-validate', [
    '-k',
    KUBERNETES,
    '--strict',
    file,
  ]).catch((error: unknown) => Object(error));
  const lines = `${ended.stdout}${ended.stderr}`.split('\n').filter((line) => line !== '');
  return lines.filter((line) => !line.startsWith('INFO ') && !UNKNOWN.test(line));
};

const pairsOf = (names: readonly string[]): readonly (readonly string[])[] =>
  names.flatMap((name, index) => names.slice(index + 1).map((other) => [name, other]));

const combined = (resource: string, components: readonly string[]): string => {
  const folder = join(work, [resource, ...components].join('+').replaceAll('/', '-'));
  mkdirSync(folder);
  const path = (name: string) => relative(folder, join(MANIFESTS, name));
  const content = { resources: [path(resource)], components: components.map((name) => path(`components/${name}`)) };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(content));
  return rendered(folder);
};

const components = readdirSync(join(MANIFESTS, 'components'));

describe('the schemas of Kubernetes', () => {
  it.each(['base', ...readdirSync(join(MANIFESTS, 'overlays')).map((name) => `overlays/${name}`)])(
    'know every field of %s',
    async (folder) => {
      expect(await faultsIn(folder.replace('/', '-'), rendered(join(MANIFESTS, folder)))).toEqual([]);
    },
  );

  it('refuse a field that is not known', async () => {
    const text = rendered(join(MANIFESTS, 'base')).replace('maxSurge:', 'maxSurgee:');
    expect(await faultsIn('unknown', text)).toEqual([expect.stringContaining('maxSurgee')]);
  });
});

describe('the components', () => {
  it.each(pairsOf(components))('%s and %s go together with the base', (...pair) => {
    expect(manifestsIn(combined('base', pair)).length).toBeGreaterThan(0);
  });

  it('go together, all at once', async () => {
    expect(await faultsIn('all', combined('base', components))).toEqual([]);
  });

  it.each(components.filter((name) => name !== 'single-replica-dev'))('%s goes together with the overlay of a laptop', async (name) => {
    expect(await faultsIn(`dev-${name}`, combined('overlays/dev', [name]))).toEqual([]);
  });
});
