import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { at, listAt, MANIFESTS, type Manifest, numberAt, textAt } from '../kubernetes/cluster-objects.ts';
import { PARTS } from '../kubernetes/rules.ts';
import { startCluster } from './cluster.ts';

const PORT = 22_460;
/** Of a cluster that knows these kinds. */
const LEFT_OUT = ['ExternalSecret', 'HTTPRoute', 'PrometheusRule', 'ServiceMonitor'];
const SERVERS = PARTS.filter(({ kind }) => kind !== 'job').map(({ name }) => name);
const JOBS = PARTS.filter(({ kind, calls }) => kind === 'job' && calls.length === 0).map(({ name }) => name);
const [FIRST_JOB = ''] = JOBS;

const work = mkdtempSync(join(tmpdir(), 'rollout-'));
let cluster: Awaited<ReturnType<typeof startCluster>>;

/** Production, with changes, for the next `apply`. */
const release = (...changes: readonly object[]) => {
  const without = LEFT_OUT.map((kind) => ({
    target: { kind },
    patch: `apiVersion: v1\nkind: ${kind}\nmetadata: { name: any }\n$patch: delete\n`,
  }));
  const content = { resources: [relative(work, join(MANIFESTS, 'overlays/prod'))], patches: [...without, ...changes] };
  writeFileSync(join(work, 'kustomization.yaml'), JSON.stringify(content));
};
const changed = (kind: string, name: string, path: string, value: unknown) => ({
  target: { kind, name },
  patch: JSON.stringify([{ op: 'add', path, value }]),
});
const apply = (wait: string, ...parts: readonly string[]) =>
  cluster.command('env', [`ROLLOUT_WAIT=${wait}`, 'bash', join(MANIFESTS, 'apply.sh'), work, ...parts]);
const list = async (kind: string): Promise<readonly Manifest[]> =>
  JSON.parse(await cluster.kubectl('get', kind, '--namespace', 'bubbles', '--output', 'json')).items;
const running = async (name: string) =>
  (await list('pods')).filter(
    (pod) =>
      pod.metadata.labels['app.kubernetes.io/name'] === name &&
      at(pod, 'metadata.deletionTimestamp') === undefined &&
      listAt(pod, 'status.conditions').some((one) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True'),
  );
const nodesOf = (pods: readonly Manifest[]) => pods.map((pod) => textAt(pod, 'spec.nodeName')).toSorted();
const generations = async () => (await list('deployments')).map(({ metadata }) => [metadata.name, metadata['generation']]);

beforeAll(async () => {
  cluster = await startCluster('up', PORT);
  release();
});
afterAll(async () => {
  await cluster?.stop();
  rmSync(work, { recursive: true, force: true });
});

describe('a release on a real control plane', () => {
  it('is rolled out, after its jobs', async () => {
    const { code, stderr } = await apply('5m');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const jobs = await list('jobs');
    const done = jobs.map((job) => textAt(job, 'status.completionTime'));
    expect(jobs.map(({ metadata }) => metadata.name).toSorted()).toEqual(JOBS.toSorted());
    const servers = await list('deployments');
    expect(servers.map(({ metadata }) => metadata.name).toSorted()).toEqual(SERVERS.toSorted());
    for (const server of servers) for (const time of done) expect(textAt(server, 'metadata.creationTimestamp') >= time).toBe(true);
  });

  it('has as many replicas as its autoscalers keep, each in a zone of its own', async () => {
    const least = new Map((await list('hpa')).map((one) => [one.metadata.name, numberAt(one, 'spec.minReplicas')]));
    for (const name of SERVERS) {
      const count = least.get(name) ?? 0;
      await cluster.kubectl(
        'wait',
        '--namespace',
        'bubbles',
        `deployment/${name}`,
        '--for',
        `jsonpath={.status.readyReplicas}=${count}`,
        '--timeout',
        '120s',
      );
      const nodes = nodesOf(await running(name));
      expect(new Set(nodes).size).toBe(count);
    }
    expect(least.get('identity-and-oauth')).toBeGreaterThanOrEqual(2);
  });

  it('is found by headless names', async () => {
    const slices = await list('endpointslices');
    for (const name of SERVERS) {
      const slice = slices.find(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === `${name}-headless`);
      const ready = listAt(slice, 'endpoints').filter((one) => at(one, 'conditions.ready') === true);
      expect(ready).toHaveLength((await running(name)).length);
    }
  });

  it('leaves its servers as they are when a job does not succeed', async () => {
    const before = await generations();
    release(
      changed('Job', FIRST_JOB, '/spec/template/spec/nodeSelector', { 'no-such': 'node' }),
      changed('Deployment', 'gateway', '/spec/template/metadata/annotations', { release: 'next' }),
    );
    const { code, stderr } = await apply('5s');
    expect(code).toBe(1);
    expect(stderr).toContain(`job.batch/${FIRST_JOB} has not succeeded: no server was changed`);
    expect(await generations()).toEqual(before);
  });

  it('rolls out the parts that are named, and no other', async () => {
    release({
      target: { kind: 'Deployment' },
      patch: JSON.stringify([{ op: 'add', path: '/spec/template/metadata/annotations', value: { release: 'next' } }]),
    });
    const before = new Map((await generations()).map(([name, generation]) => [name, generation]));
    const { code } = await apply('5m', 'signup', 'gateway');
    expect(code).toBe(0);
    const moved = (await generations()).filter(([name, generation]) => before.get(name) !== generation).map(([name]) => name);
    expect(moved.toSorted()).toEqual(['gateway', 'signup']);
  });

  it('gives a command of operators its words as they are', async () => {
    const words = ['accounts', 'create', '--name', 'Ada "of" $HOME\'s'];
    // What it says is not here to be read: pretended nodes have no logs.
    await cluster.command('bash', [join(MANIFESTS, 'command.sh'), 'bubbles', ...words]);
    const commands = (await list('jobs')).filter(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'command');
    expect(commands.map((job) => at(job, 'spec.template.spec.containers.0.args'))).toEqual([words]);
    expect(await apply('5m', 'signup')).toMatchObject({ code: 0 });
    expect(await list('jobs')).toContainEqual(
      expect.objectContaining({ metadata: expect.objectContaining({ name: commands[0]?.metadata.name }) }),
    );
  });

  it('runs the migration job with words', async () => {
    expect(await cluster.command('bash', [join(MANIFESTS, 'migrate.sh'), work, '--contract'])).toMatchObject({ code: 0 });
    const migrations = (await list('jobs')).filter(({ metadata }) => metadata.name.startsWith('migration-'));
    expect(migrations.map((job) => at(job, 'spec.template.spec.containers.0.args'))).toEqual([['--contract']]);
  });

  it('restarts the parts that are named, without External Secrets', async () => {
    const before = new Map((await generations()).map(([name, generation]) => [name, generation]));
    expect(await cluster.command('bash', [join(MANIFESTS, 'restart.sh'), 'bubbles', 'signup', 'admin'])).toMatchObject({ code: 0 });
    const moved = (await generations()).filter(([name, generation]) => before.get(name) !== generation).map(([name]) => name);
    expect(moved).toEqual(['signup']);
  });

  it('gives up one pod of a server at a time to a drain, and starts it elsewhere', async () => {
    const [node = ''] = nodesOf(await running('gateway'));
    const drained = cluster.command('kubectl', [
      'drain',
      node,
      '--ignore-daemonsets',
      '--delete-emptydir-data',
      '--force',
      '--timeout',
      '180s',
    ]);
    let least = Number.POSITIVE_INFINITY;
    let isOver = false;
    void drained.then(() => {
      isOver = true;
    });
    while (!isOver) least = Math.min(least, (await running('gateway')).length);
    expect((await drained).code).toBe(0);
    expect(least).toBeGreaterThanOrEqual(2);
    await cluster.kubectl(
      'wait',
      '--namespace',
      'bubbles',
      'deployment/gateway',
      '--for',
      'jsonpath={.status.readyReplicas}=3',
      '--timeout',
      '120s',
    );
    expect(nodesOf(await running('gateway'))).not.toContain(node);
  });
});
