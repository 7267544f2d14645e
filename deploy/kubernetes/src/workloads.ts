import type { Part } from '@bubbles/services/deployment.ts';
import { labelsOf, podOf, selectorOf } from './pods.ts';
import { headless, portsOf } from './settings.ts';

/** A Kubernetes object. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Sync waves of Argo CD: objects that jobs need, then the jobs, then everything else. */
export const NEEDED_BY_JOBS = { 'argocd.argoproj.io/sync-wave': '-2' };
const BEFORE_PODS = {
  'argocd.argoproj.io/hook': 'Sync',
  'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
  'argocd.argoproj.io/sync-wave': '-1',
};
/** An index over a large collection takes hours; an overlay says another bound. */
const JOB_DEADLINE_SECONDS: Readonly<Record<string, number>> = { migration: 86_400 };
const USUAL_JOB_DEADLINE_SECONDS = 600;
const JOB_RETRIES = 4;
const KEPT_SECONDS = 86_400;

const MIN_REPLICAS = 2;
const MAX_REPLICAS = 6;
const CPU_PERCENT = 70;

const named = (part: Part, name = part.name) => ({ metadata: { name, labels: labelsOf(part) } });
/** Has no component label: `apply.sh` applies such objects before jobs and servers. */
export const early = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  metadata: { name, labels: { 'app.kubernetes.io/part-of': 'bubbles', ...labels }, annotations: NEEDED_BY_JOBS },
});

const serviceAccount = (part: Part): Manifest => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  ...early(part.name),
  automountServiceAccountToken: false,
});

/** Sets no `replicas`, since the autoscaler owns that field. */
const deployment = (part: Part): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  ...named(part),
  spec: {
    selector: selectorOf(part.name),
    revisionHistoryLimit: 5,
    progressDeadlineSeconds: 300,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: podOf(part),
  },
});

const httpPort = (part: Part) => ({ name: 'http', port: portsOf(part).http, targetPort: 'http' });

/** A Service for callers, and a headless Service whose ops port is scraped on every replica. */
const services = (part: Part): readonly Manifest[] => [
  { apiVersion: 'v1', kind: 'Service', ...named(part), spec: { selector: selectorOf(part.name).matchLabels, ports: [httpPort(part)] } },
  {
    apiVersion: 'v1',
    kind: 'Service',
    ...named(part, headless(part.name)),
    spec: {
      clusterIP: 'None',
      selector: selectorOf(part.name).matchLabels,
      ports: [httpPort(part), { name: 'ops', port: portsOf(part).ops, targetPort: 'ops' }],
    },
  },
];

const disruptionBudget = (part: Part): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  ...named(part),
  spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: selectorOf(part.name) },
});

/** Scaling behavior of both kinds of autoscaler: up at once, down slowly. */
export const PACE = {
  scaleUp: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 2, periodSeconds: 30 }] },
  scaleDown: { stabilizationWindowSeconds: 600, policies: [{ type: 'Pods', value: 1, periodSeconds: 120 }] },
};
export const BOUNDS = { min: MIN_REPLICAS, max: MAX_REPLICAS, cpuPercent: CPU_PERCENT };

const autoscaler = (part: Part): Manifest => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  ...named(part),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: part.name },
    minReplicas: MIN_REPLICAS,
    maxReplicas: MAX_REPLICAS,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_PERCENT } } }],
    behavior: PACE,
  },
});

const job = (part: Part): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: part.name, labels: labelsOf(part), annotations: BEFORE_PODS },
  spec: {
    backoffLimit: JOB_RETRIES,
    activeDeadlineSeconds: JOB_DEADLINE_SECONDS[part.name] ?? USUAL_JOB_DEADLINE_SECONDS,
    ttlSecondsAfterFinished: KEPT_SECONDS,
    template: podOf(part),
  },
});

/** Suspended: `command.sh` makes jobs from its template. */
const commandTemplate = (part: Part): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  ...named(part),
  spec: {
    schedule: '0 0 1 1 *',
    suspend: true,
    concurrencyPolicy: 'Allow',
    jobTemplate: {
      metadata: { labels: labelsOf(part) },
      // A failed command is not repeated: the operator decides.
      spec: { backoffLimit: 0, activeDeadlineSeconds: 3600, ttlSecondsAfterFinished: KEPT_SECONDS, template: podOf(part) },
    },
  },
});

/** Manifests of a long-running part by file name. */
export const serverFiles = (part: Part): Readonly<Record<string, readonly Manifest[]>> => ({
  serviceaccount: [serviceAccount(part)],
  deployment: [deployment(part)],
  service: services(part),
  pdb: [disruptionBudget(part)],
  hpa: [autoscaler(part)],
});
export const jobFiles = (part: Part) => ({ serviceaccount: [serviceAccount(part)], job: [job(part)] });
export const commandFiles = (part: Part) => ({ serviceaccount: [serviceAccount(part)], cronjob: [commandTemplate(part)] });
