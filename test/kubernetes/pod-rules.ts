import { isDeepStrictEqual } from 'node:util';
import { at, listAt, type Manifest, nameOf, numberAt, ofKind, type Pod, partPods, podsOf, textAt } from './cluster-objects.ts';

/** Answers what is wrong: each fault names the object. */
export type Rule = (manifests: readonly Manifest[], overlay: string) => readonly string[];

const USER = 10_001;
/** The longest that a process takes to end: it is cut then. */
const HARD_STOP_SECONDS = 35;
const LEAVE_SECONDS = 8;
const HEAP = { min: 0.7, max: 0.8 };
const READABLE_BY_GROUP = 0o440;

const label = ({ owner }: Pod): string => `${owner.kind}/${owner.metadata.name}`;
/** Faulty are those that do not satisfy it. */
const every =
  (podsIn: (manifests: readonly Manifest[]) => readonly Pod[], isRight: (pod: Pod, manifests: readonly Manifest[]) => boolean): Rule =>
  (manifests) =>
    podsIn(manifests)
      .filter((pod) => !isRight(pod, manifests))
      .map(label);
const servers = (manifests: readonly Manifest[]) => partPods(manifests).filter(({ owner }) => owner.kind === 'Deployment');

const MIB: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024 };
const mebibytes = (quantity: string): number => {
  const [, amount, unit = ''] = /^(\d+)([MG]i)$/.exec(quantity) ?? [];
  return Number(amount) * (MIB[unit] ?? Number.NaN);
};
const heapShare = ({ container }: Pod): number => {
  const flags = listAt(container, 'command').map((word) => /^--max-old-space-size=(\d+)$/.exec(String(word))?.[1] ?? '');
  return Number(flags.find((flag) => flag !== '')) / mebibytes(textAt(container, 'resources.limits.memory'));
};

const probe = (pod: Pod, name: string) => ({
  path: textAt(pod.container, `${name}.httpGet.path`),
  port: at(pod.container, `${name}.httpGet.port`),
});
const volumes = ({ spec }: Pod) => listAt(spec, 'volumes');
const mountedAt = (pod: Pod, mountPath: string) => {
  const mount = listAt(pod.container, 'volumeMounts').find((one) => at(one, 'mountPath') === mountPath);
  return volumes(pod).find((volume) => at(volume, 'name') === at(mount, 'name'));
};
const spreads = (pod: Pod, topologyKey: string) =>
  listAt(pod.spec, 'topologySpreadConstraints').some(
    (one) =>
      at(one, 'topologyKey') === topologyKey &&
      isDeepStrictEqual(at(one, 'matchLabelKeys'), ['pod-template-hash']) &&
      at(one, 'nodeTaintsPolicy') === 'Honor' &&
      isDeepStrictEqual(at(one, 'labelSelector'), at(pod.owner, 'spec.selector')),
  );
const has = (value: unknown, ...keys: readonly string[]) => keys.every((key) => at(value, key) !== undefined);

/** What holds of every pod, that of an engine too where nothing else is said. */
export const POD_RULES: Readonly<Record<string, Rule>> = {
  'a rollout takes no pod away before another is ready': every(servers, ({ owner }) =>
    isDeepStrictEqual(at(owner, 'spec.strategy'), { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }),
  ),
  'replicas are spread over zones': every(servers, (pod) => spreads(pod, 'topology.kubernetes.io/zone')),
  'replicas are spread over nodes': every(servers, (pod) => spreads(pod, 'kubernetes.io/hostname')),
  'probes ask the ops port, each its own path': every(servers, (pod) =>
    isDeepStrictEqual(
      ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) => probe(pod, name)),
      ['/startupz', '/readyz', '/livez'].map((path) => ({ path, port: 'ops' })),
    ),
  ),
  'a pod sleeps before it is told to end': every(
    servers,
    ({ container }) => numberAt(container, 'lifecycle.preStop.sleep.seconds') === LEAVE_SECONDS,
  ),
  'the grace period covers the sleep and the longest end': every(
    servers,
    ({ spec, container }) =>
      numberAt(spec, 'terminationGracePeriodSeconds') > numberAt(container, 'lifecycle.preStop.sleep.seconds') + HARD_STOP_SECONDS,
  ),
  'CPU, memory and ephemeral storage are requested': every(podsOf, ({ container }) =>
    has(at(container, 'resources.requests'), 'cpu', 'memory', 'ephemeral-storage'),
  ),
  'memory and ephemeral storage are limited': every(podsOf, ({ container }) =>
    has(at(container, 'resources.limits'), 'memory', 'ephemeral-storage'),
  ),
  'CPU is not limited': every(podsOf, ({ container }) => !has(at(container, 'resources.limits'), 'cpu')),
  'the heap leaves a quarter of the memory to the rest': every(partPods, (pod) => heapShare(pod) >= HEAP.min && heapShare(pod) <= HEAP.max),
  'no pod runs as root': every(podsOf, ({ spec }) => at(spec, 'securityContext.runAsNonRoot') === true),
  'parts run as the user of their image': every(partPods, ({ spec }) =>
    ['runAsUser', 'runAsGroup', 'fsGroup'].every((name) => at(spec, `securityContext.${name}`) === USER),
  ),
  'system calls are filtered': every(podsOf, ({ spec }) => at(spec, 'securityContext.seccompProfile.type') === 'RuntimeDefault'),
  'no container has a capability': every(podsOf, ({ container }) =>
    isDeepStrictEqual(at(container, 'securityContext.capabilities'), { drop: ['ALL'] }),
  ),
  'no container gains privileges': every(podsOf, ({ container }) => at(container, 'securityContext.allowPrivilegeEscalation') === false),
  'the root file system is read-only': every(partPods, ({ container }) => at(container, 'securityContext.readOnlyRootFilesystem') === true),
  'temporary files lie in memory': every(
    partPods,
    (pod) => at(mountedAt(pod, '/tmp'), 'emptyDir.medium') === 'Memory' && has(mountedAt(pod, '/tmp'), 'emptyDir.sizeLimit'),
  ),
  'no pod has a token of the cluster': every(podsOf, ({ spec }) => at(spec, 'automountServiceAccountToken') === false),
  'no environment tells of other services': every(podsOf, ({ spec }) => at(spec, 'enableServiceLinks') === false),
  'each part has an account of its own': every(
    partPods,
    (pod, manifests) =>
      at(pod.spec, 'serviceAccountName') === nameOf(pod) &&
      ofKind(manifests, 'ServiceAccount').some(
        (account) => account.metadata.name === nameOf(pod) && at(account, 'automountServiceAccountToken') === false,
      ),
  ),
  'each pod has one container': every(podsOf, ({ spec }) => listAt(spec, 'containers').length === 1),
  'secrets are files that the group reads': every(partPods, (pod) =>
    isDeepStrictEqual(at(mountedAt(pod, '/run/secrets/bubbles'), 'secret'), {
      secretName: nameOf(pod),
      defaultMode: READABLE_BY_GROUP,
    }),
  ),
  'no environment holds a secret': every(
    podsOf,
    ({ container }) =>
      listAt(container, 'envFrom').every((source) => !has(source, 'secretRef')) &&
      listAt(container, 'env').every((variable) => !has(variable, 'valueFrom.secretKeyRef')),
  ),
  'settings come from the map of the part alone': every(
    partPods,
    ({ container }) =>
      listAt(container, 'envFrom').length === 1 &&
      listAt(container, 'env').every((one) => /^(?:NODE_OPTIONS|OTEL_\w+)$/.test(textAt(one, 'name'))),
  ),
};
