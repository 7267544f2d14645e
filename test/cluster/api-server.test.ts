import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { MANIFESTS, type Manifest, manifestsIn, ofKind, rendered } from '../kubernetes/cluster-objects.ts';
import { find, type Mutation, mutated, set } from '../kubernetes/mutations.ts';
import { moduleFolder, startCluster } from './cluster.ts';

const PORT = 22_440;
/** Kinds that others bring, from where they are published. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'sigs.k8s.io/gateway-api@v1.4.0': ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  'github.com/kedacore/keda/v2@v2.18.0': [
    'config/crd/bases/keda.sh_scaledobjects.yaml',
    'config/crd/bases/keda.sh_triggerauthentications.yaml',
  ],
};
/** Their definitions are in no module that can be had here. */
const UNKNOWN_KINDS = ['ExternalSecret', 'PrometheusRule', 'ServiceMonitor'];

let cluster: Awaited<ReturnType<typeof startCluster>>;

beforeAll(async () => {
  cluster = await startCluster('api', PORT);
  for (const [name, files] of Object.entries(KINDS)) {
    const folder = await moduleFolder(name);
    for (const file of files) await cluster.kubectl('apply', '--server-side', '--filename', join(folder, file));
  }
  // Pod Security judges by the labels of a namespace that is there.
  await cluster.kubectl('apply', '--filename', join(MANIFESTS, 'base/namespace.yaml'));
  await cluster.kubectl('wait', '--for', 'condition=established', 'crd', '--all', '--timeout', '60s');
});
afterAll(() => cluster?.stop());

const asText = (manifests: readonly Manifest[]): string => manifests.map((one) => stringify(one)).join('---\n');
const knownOf = (text: string) => manifestsIn(text).filter(({ kind }) => !UNKNOWN_KINDS.includes(kind));
const overlay = (name: string) => rendered(join(MANIFESTS, 'overlays', name));
/** The faults of a changed production. */
const judgeChanged = async (change: Mutation, ...ids: readonly string[]) => {
  const manifests = mutated(knownOf(overlay('prod')), change);
  return await cluster.judge(asText(ids.length === 0 ? manifests : ids.map((id) => find(manifests, id))));
};

describe('a real API server', () => {
  it.each(['dev', 'prod'])('takes every object of the overlay %s without a warning', async (name) => {
    const known = knownOf(overlay(name));
    const { code, stdout, stderr } = await cluster.judge(asText(known));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toHaveLength(known.length);
  });

  it('takes the component that scales workers by their queues', async () => {
    const folder = join(MANIFESTS, 'components/keda-rabbitmq');
    const { code, stderr } = await cluster.command('kubectl', [
      ...['apply', '--server-side', '--dry-run=server', '--validate=strict', '--namespace', 'bubbles'],
      ...['bubbles-query', 'webhooks-dispatcher', 'meetings-bot-gateway', 'signup'].flatMap((name) => [
        '--filename',
        join(folder, `${name}.yaml`),
      ]),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('is asked about every kind, except those whose definitions no package brings', () => {
    const kinds = new Set(manifestsIn(overlay('prod')).map(({ kind }) => kind));
    expect([...kinds].filter((kind) => UNKNOWN_KINDS.includes(kind)).toSorted()).toEqual(
      expect.arrayContaining(['ExternalSecret', 'ServiceMonitor']),
    );
    expect(ofKind(knownOf(overlay('prod')), 'HTTPRoute')).toHaveLength(1);
  });

  it.each([
    ['an unknown field', set('Deployment/gateway', 'spec.strategy.rollingUpdate.maxSurgee', 1), 'maxSurgee'],
    ['a budget with two bounds', set('PodDisruptionBudget/gateway', 'spec.minAvailable', 1), 'minAvailable'],
    ['a network that is none', set('NetworkPolicy/to-internet', 'spec.egress.0.to.0.ipBlock.cidr', '300.1.0.0/16'), 'cidr'],
    [
      'a route whose backend may take longer than the request',
      set('HTTPRoute/gateway', 'spec.rules.0.timeouts.backendRequest', '60s'),
      'backendRequest',
    ],
    ['a probe without a port', set('Deployment/gateway', 'spec.template.spec.containers.0.livenessProbe.httpGet.port'), 'port'],
  ])('refuses %s, by its name', async (_name, change, field) => {
    const { code, stderr } = await judgeChanged(change);
    expect(code).toBe(1);
    expect(stderr).toContain(field);
  });

  it.each([
    ['runs as root', set('Deployment/gateway', 'spec.template.spec.securityContext', {}), 'runAsNonRoot'],
    ['may gain privileges', set('Deployment/gateway', 'spec.template.spec.containers.0.securityContext', {}), 'allowPrivilegeEscalation'],
    ['is on the network of its node', set('Deployment/gateway', 'spec.template.spec.hostNetwork', true), 'host namespaces'],
  ])('warns of a server that %s', async (_name, change, reason) => {
    const { stderr } = await judgeChanged(change, 'Deployment/gateway');
    expect(stderr).toMatch(/would violate PodSecurity "restricted:latest"/);
    expect(stderr).toContain(reason);
  });

  it('refuses a pod that is not restricted', async () => {
    // No controller is there to make it.
    await cluster.kubectl('create', 'serviceaccount', 'default', '--namespace', 'bubbles');
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'free', namespace: 'bubbles' },
      spec: { containers: [{ name: 'free', image: 'free' }] },
    };
    const { code, stderr } = await cluster.judge(stringify(pod));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /violates PodSecurity "restricted:latest".*allowPrivilegeEscalation.*capabilities.*runAsNonRoot.*seccompProfile/,
    );
  });
});
