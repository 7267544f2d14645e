import { queueName } from '@bubbles/bus/bus.ts';
import type { Part } from '@bubbles/services/deployment.ts';
import { metricsPolicy } from './network.ts';
import { labelsOf, selectorOf } from './pods.ts';
import { isServer, secretKeys } from './settings.ts';
import { BOUNDS, early, type Manifest, PACE } from './workloads.ts';

const SCRAPE_SECONDS = 15;
/** Number of waiting messages for which KEDA adds a replica. */
const QUEUE_LENGTH = 200;
const REFRESH = '1h';

/** A kustomize component for overlays. */
export interface Component {
  readonly files: Readonly<Record<string, readonly Manifest[]>>;
  readonly patches?: readonly object[];
}

const named = (part: Part) => ({ metadata: { name: part.name, labels: labelsOf(part) } });

/**
 * Only the headless Service has a port of that name, so each replica is scraped once. `honorLabels` keeps the label `service` of the process,
 * which rules and dashboards name; the operator would else put the name of the headless Service there.
 */
const serviceMonitor = (part: Part): Manifest => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  ...named(part),
  spec: {
    selector: selectorOf(part.name),
    endpoints: [{ port: 'ops', path: '/metrics', interval: `${SCRAPE_SECONDS}s`, honorLabels: true }],
  },
});

/** `groups` holds the groups of alert rules, or null. */
export const prometheus = (parts: readonly Part[], groups: unknown): Component => ({
  files: {
    servicemonitors: parts.filter(isServer).map(serviceMonitor),
    networkpolicy: [metricsPolicy(parts)],
    ...(groups !== null && {
      prometheusrule: [
        {
          apiVersion: 'monitoring.coreos.com/v1',
          kind: 'PrometheusRule',
          metadata: { name: 'bubbles', labels: { 'app.kubernetes.io/part-of': 'bubbles' } },
          spec: { groups },
        },
      ],
    }),
  },
});

/** KEDA reads the queue with the broker login of the part itself. */
const brokerLogin = (part: Part): Manifest => ({
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'TriggerAuthentication',
  ...named(part),
  spec: { secretTargetRef: [{ parameter: 'host', name: part.name, key: 'AMQP_URL' }] },
});

/** Takes over the autoscaler of the base: `apply.sh` does not remove it from a running cluster, and KEDA refuses a second one beside it. */
const scaledObject = (part: Part): Manifest => ({
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  metadata: { ...named(part).metadata, annotations: { 'scaledobject.keda.sh/transfer-hpa-ownership': 'true' } },
  spec: {
    scaleTargetRef: { name: part.name },
    minReplicaCount: BOUNDS.min,
    maxReplicaCount: BOUNDS.max,
    advanced: { horizontalPodAutoscalerConfig: { name: part.name, behavior: PACE } },
    triggers: [
      { type: 'cpu', metricType: 'Utilization', metadata: { value: String(BOUNDS.cpuPercent) } },
      ...part.consumes.map((type) => ({
        type: 'rabbitmq',
        metadata: { protocol: 'amqp', queueName: queueName(part.name, type), mode: 'QueueLength', value: String(QUEUE_LENGTH) },
        authenticationRef: { name: part.name },
      })),
    ],
  },
});

export const kedaRabbitmq = (parts: readonly Part[]): Component => {
  const workers = parts.filter(({ consumes }) => consumes.length > 0);
  return {
    files: Object.fromEntries(workers.map((part) => [part.name, [brokerLogin(part), scaledObject(part)]])),
    patches: workers.map(({ name }) => ({
      target: { kind: 'HorizontalPodAutoscaler', name },
      patch: `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: ${name}\n$patch: delete\n`,
    })),
  };
};

/** The required keys; an overlay adds the optional keys that it uses. */
const externalSecret = (part: Part): Manifest => ({
  apiVersion: 'external-secrets.io/v1',
  kind: 'ExternalSecret',
  ...early(part.name),
  spec: {
    refreshInterval: REFRESH,
    secretStoreRef: { kind: 'ClusterSecretStore', name: 'bubbles' },
    target: { name: part.name, creationPolicy: 'Owner' },
    data: secretKeys(part).map((secretKey) => ({ secretKey, remoteRef: { key: `bubbles/${part.name}`, property: secretKey } })),
  },
});

export const externalSecrets = (parts: readonly Part[]): Component => ({
  files: { externalsecrets: parts.filter((part) => secretKeys(part).length > 0).map(externalSecret) },
});
