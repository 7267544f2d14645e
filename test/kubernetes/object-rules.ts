import { isDeepStrictEqual } from 'node:util';
import type { Part } from '@bubbles/services/deployment.ts';
import { at, listAt, type Manifest, nameOf, numberAt, ofKind, partPods, selects, settingsOf, textAt } from './cluster-objects.ts';
import type { Rule } from './pod-rules.ts';

const MIN_REPLICAS = 2;
const SLOW_SECONDS = 300;
const WAVE = 'argocd.argoproj.io/sync-wave';
const DEV = 'dev';

const names = (manifests: readonly Manifest[]): readonly string[] => manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
const deployments = (manifests: readonly Manifest[]) => partPods(manifests).filter(({ owner }) => owner.kind === 'Deployment');
const autoscalersOf = (manifests: readonly Manifest[], name: string) =>
  ofKind(manifests, 'HorizontalPodAutoscaler', 'ScaledObject').filter((one) => textAt(one, 'spec.scaleTargetRef.name') === name);
const minimumOf = (scaler: Manifest) => numberAt(scaler, scaler.kind === 'ScaledObject' ? 'spec.minReplicaCount' : 'spec.minReplicas');
const maximumOf = (scaler: Manifest) => numberAt(scaler, scaler.kind === 'ScaledObject' ? 'spec.maxReplicaCount' : 'spec.maxReplicas');
const paceOf = (scaler: Manifest) =>
  at(scaler, scaler.kind === 'ScaledObject' ? 'spec.advanced.horizontalPodAutoscalerConfig.behavior' : 'spec.behavior');
const waveOf = ({ metadata }: Manifest): number => Number(metadata.annotations[WAVE] ?? 0);

const scalingRules: Readonly<Record<string, Rule>> = {
  'each server has a budget of one missing pod': (manifests) =>
    deployments(manifests)
      .filter(
        ({ owner }) =>
          ofKind(manifests, 'PodDisruptionBudget').filter((budget) =>
            isDeepStrictEqual(at(budget, 'spec'), {
              maxUnavailable: 1,
              unhealthyPodEvictionPolicy: 'AlwaysAllow',
              selector: at(owner, 'spec.selector'),
            }),
          ).length !== 1,
      )
      .map(nameOf),
  'each server has one autoscaler': (manifests, overlay) =>
    overlay === DEV
      ? []
      : deployments(manifests)
          .map(nameOf)
          .filter((name) => autoscalersOf(manifests, name).length !== 1),
  'an autoscaler keeps two replicas at least': (manifests) =>
    names(
      ofKind(manifests, 'HorizontalPodAutoscaler', 'ScaledObject').filter(
        (scaler) => !(minimumOf(scaler) >= MIN_REPLICAS && maximumOf(scaler) > minimumOf(scaler)),
      ),
    ),
  'an autoscaler takes pods away slowly': (manifests) =>
    names(
      ofKind(manifests, 'HorizontalPodAutoscaler', 'ScaledObject').filter((scaler) => {
        const down = at(paceOf(scaler), 'scaleDown');
        const isGentle = listAt(down, 'policies').every((policy) => at(policy, 'type') === 'Pods' && numberAt(policy, 'value') === 1);
        return !(numberAt(down, 'stabilizationWindowSeconds') >= SLOW_SECONDS && listAt(down, 'policies').length > 0 && isGentle);
      }),
    ),
  // The autoscaler of the base stays in a cluster that has it, and KEDA refuses a second one beside it.
  'an autoscaler of KEDA takes over the one that runs': (manifests) =>
    names(
      ofKind(manifests, 'ScaledObject').filter(
        (scaler) =>
          scaler.metadata.annotations['scaledobject.keda.sh/transfer-hpa-ownership'] !== 'true' ||
          at(scaler, 'spec.advanced.horizontalPodAutoscalerConfig.name') !== at(scaler, 'spec.scaleTargetRef.name'),
      ),
    ),
  'who has an autoscaler has no number of replicas': (manifests) =>
    deployments(manifests)
      .filter((pod) => autoscalersOf(manifests, nameOf(pod)).length > 0 === (at(pod.owner, 'spec.replicas') !== undefined))
      .map(nameOf),
  'identity has two replicas at least': (manifests) => {
    const name = 'identity-and-oauth';
    const fixed = numberAt(deployments(manifests).find((pod) => nameOf(pod) === name)?.owner, 'spec.replicas');
    const least = autoscalersOf(manifests, name).map(minimumOf)[0] ?? fixed;
    return least >= MIN_REPLICAS ? [] : [name];
  },
};

const jobRules = (jobs: readonly string[]): Readonly<Record<string, Rule>> => {
  const jobsIn = (manifests: readonly Manifest[]) => ofKind(manifests, 'Job').filter(({ metadata }) => jobs.includes(metadata.name));
  return {
    'jobs run before the pods of a release': (manifests) =>
      jobs.filter((job) =>
        ofKind(manifests, 'Job').every(
          ({ metadata: { name, annotations } }) =>
            name !== job ||
            annotations['argocd.argoproj.io/hook'] !== 'Sync' ||
            annotations['argocd.argoproj.io/hook-delete-policy'] !== 'BeforeHookCreation' ||
            annotations[WAVE] !== '-1',
        ),
      ),
    'a job has an end': (manifests) =>
      names(
        jobsIn(manifests).filter((job) => !(numberAt(job, 'spec.activeDeadlineSeconds') > 0 && numberAt(job, 'spec.backoffLimit') > 0)),
      ),
    'what a job needs is applied before it': (manifests) =>
      names(
        manifests
          .filter(
            ({ kind, metadata }) =>
              ['Namespace', 'ServiceAccount', 'ConfigMap', 'NetworkPolicy', 'ExternalSecret', 'StatefulSet'].includes(kind) &&
              metadata.name !== '',
          )
          .filter((manifest) => waveOf(manifest) >= -1),
      ),
    'pods of servers wait for the jobs': (manifests) =>
      deployments(manifests)
        .filter(({ owner }) => waveOf(owner) < 0)
        .map(nameOf),
  };
};

const edgeRules: Readonly<Record<string, Rule>> = {
  'the namespace takes restricted pods alone': (manifests) => {
    const namespaces = ofKind(manifests, 'Namespace');
    const isRestricted = ({ metadata: { labels } }: Manifest) =>
      ['enforce', 'warn', 'audit'].every((mode) => labels[`pod-security.kubernetes.io/${mode}`] === 'restricted');
    return namespaces.length === 1 ? names(namespaces.filter((one) => !isRestricted(one))) : ['no namespace'];
  },
  'a route gives up after the gateway': (manifests) =>
    names(
      ofKind(manifests, 'HTTPRoute').filter(
        (route) =>
          listAt(route, 'spec.rules').length === 0 ||
          listAt(route, 'spec.rules').some((rule) => !isDeepStrictEqual(at(rule, 'timeouts'), { request: '30s', backendRequest: '25s' })),
      ),
    ),
  'metrics of each server are collected once': (manifests) => {
    const monitors = ofKind(manifests, 'ServiceMonitor');
    const portsOf = (monitor: Manifest) =>
      ofKind(manifests, 'Service')
        .filter(({ metadata }) => selects(at(monitor, 'spec.selector'), metadata.labels))
        .flatMap((service) => listAt(service, 'spec.ports').filter((port) => at(port, 'name') === at(monitor, 'spec.endpoints.0.port')));
    const watched = monitors.filter((monitor) => portsOf(monitor).length === 1).map(({ metadata }) => metadata.name);
    return monitors.length === 0
      ? []
      : deployments(manifests)
          .map(nameOf)
          .filter((name) => !watched.includes(name));
  },
  // The operator else calls `service` what the headless Service is called, and alert rules that name a service match nothing.
  'metrics keep the name of the service that they say': (manifests) =>
    names(
      ofKind(manifests, 'ServiceMonitor').filter((monitor) =>
        listAt(monitor, 'spec.endpoints').some((one) => at(one, 'honorLabels') !== true),
      ),
    ),
  'images are named by digest': (manifests, overlay) =>
    overlay === DEV
      ? []
      : partPods(manifests)
          .filter(({ container }) => !/^[^@:]+(?::\d+)?[^@:]*@sha256:[0-9a-f]{64}$/.test(textAt(container, 'image')))
          .map(nameOf),
  // A node asks for `latest` again at each start.
  'images that no registry has are not asked for': (manifests) =>
    partPods(manifests)
      .filter(({ container }) => /^localhost\/[^:]+(?::latest)?$/.test(textAt(container, 'image')))
      .map(nameOf),
  'no secret is written down': (manifests) => names(ofKind(manifests, 'Secret')),
  'settings that change start new pods': (manifests) =>
    names(ofKind(manifests, 'ConfigMap').filter(({ metadata }) => !/-[a-z0-9]{10}$/.test(metadata.name))),
};

/** Where replicas are found: a Service for callers, and one that stands for the addresses of the ready ones. */
const addressRules = (parts: readonly Part[]): Readonly<Record<string, Rule>> => ({
  'services lead to their pods': (manifests) =>
    names(
      ofKind(manifests, 'Service').filter((service) => {
        const selector = { matchLabels: at(service, 'spec.selector') };
        const pods = partPods(manifests).filter(({ labels }) => selects(selector, labels));
        const isOfEngine = service.metadata.labels['app.kubernetes.io/component'] === 'engine';
        const leads = pods.every(({ container }) =>
          listAt(service, 'spec.ports').every((port) =>
            listAt(container, 'ports').some(
              (open) => at(open, 'name') === at(port, 'targetPort') && at(open, 'containerPort') === at(port, 'port'),
            ),
          ),
        );
        return !isOfEngine && !(pods.length === 1 && leads);
      }),
    ),
  'the gateway asks ready replicas by headless names': (manifests) => {
    const gateway = partPods(manifests).find((pod) => nameOf(pod) === 'gateway');
    const upstreams = gateway === undefined ? '' : (settingsOf(gateway, manifests)['UPSTREAMS'] ?? '');
    const headless = ofKind(manifests, 'Service').filter((service) => at(service, 'spec.clusterIP') === 'None');
    const known = new Map(upstreams.split(';').map((entry) => entry.split('=') as [string, string]));
    const calls = parts.find(({ kind }) => kind === 'gateway')?.calls ?? [];
    return calls.filter((callee) => {
      const [, host, port] = /^dns\+http:\/\/([^:]+):(\d+)$/.exec(known.get(callee) ?? '') ?? [];
      return !headless.some(
        (service) =>
          service.metadata.name === host &&
          isDeepStrictEqual(at(service, 'spec.selector'), { 'app.kubernetes.io/name': callee }) &&
          listAt(service, 'spec.ports').some((one) => at(one, 'port') === Number(port)),
      );
    });
  },
  'every part is deployed': (manifests) => {
    const deployed = partPods(manifests).map(nameOf);
    return parts.map(({ name }) => name).filter((name) => deployed.filter((one) => one === name).length !== 1);
  },
});

export const objectRules = (parts: readonly Part[]): Readonly<Record<string, Rule>> => {
  const jobs = parts
    .slice(
      0,
      parts.findIndex(({ kind }) => kind !== 'job'),
    )
    .map(({ name }) => name);
  return { ...scalingRules, ...jobRules(jobs), ...edgeRules, ...addressRules(parts) };
};
