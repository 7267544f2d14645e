import type { Part } from '@bubbles/services/deployment.ts';
import { defaultNumber, isServer, portsOf, roleOf, SECRETS_FOLDER } from './settings.ts';

/** User id of the images. */
const USER = 10_001;
const TMP_MIB = 64;
const MIB_OF_A_SERVICE = 384;
/** Includes buffers for incomplete request bodies and for answers that clients have not read. */
const MIB_OF_THE_GATEWAY = 640;
/** Heap as a share of the memory limit; buffers, threads and code need the rest. */
const HEAP_SHARE = 0.75;
/** Mode 0440; JSON and YAML write it as a decimal number. */
const READABLE_BY_GROUP = 0o440;

/** preStop sleep: longer than load balancers need to stop sending to a terminating pod. */
const LEAVE_SECONDS = 8;
/** Sum of the preStop sleep, the drain of open requests and the deadline of the shutdown. */
const GRACE_SECONDS = 45;

export const labelsOf = (part: Part) => ({
  'app.kubernetes.io/name': part.name,
  'app.kubernetes.io/part-of': 'bubbles',
  'app.kubernetes.io/component': roleOf(part) ?? '',
});
export const selectorOf = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });

/** Memory limit in MiB, with the search index where the part has one. */
const memoryOf = (part: Part): number =>
  (part.kind === 'gateway' ? MIB_OF_THE_GATEWAY : MIB_OF_A_SERVICE) + (defaultNumber(part, 'SEARCH_MEMORY_MIB') ?? 0);

const resourcesOf = (part: Part) => ({
  requests: { cpu: isServer(part) ? '200m' : '50m', memory: `${memoryOf(part) / 2}Mi`, 'ephemeral-storage': '64Mi' },
  // No CPU limit: throttling delays the event loop, and the process then sheds requests.
  limits: { memory: `${memoryOf(part)}Mi`, 'ephemeral-storage': '128Mi' },
});

const probe = (path: string, times: Readonly<Record<string, number>>) => ({ httpGet: { path, port: 'ops' }, ...times });

const life = (part: Part) =>
  isServer(part) && {
    ports: Object.entries(portsOf(part)).map(([name, containerPort]) => ({ name, containerPort })),
    startupProbe: probe('/startupz', { periodSeconds: 2, failureThreshold: 60, timeoutSeconds: 2 }),
    readinessProbe: probe('/readyz', { periodSeconds: 3, failureThreshold: 2, timeoutSeconds: 2 }),
    livenessProbe: probe('/livez', { periodSeconds: 10, failureThreshold: 3, timeoutSeconds: 5 }),
    lifecycle: { preStop: { sleep: { seconds: LEAVE_SECONDS } } },
  };

const containerOf = (part: Part) => ({
  name: part.name,
  image: `bubbles/${part.name}`,
  // NODE_OPTIONS stays free for the tracing component.
  command: ['node', `--max-old-space-size=${Math.floor(memoryOf(part) * HEAP_SHARE)}`, 'src/main.ts'],
  envFrom: [{ configMapRef: { name: part.name } }],
  ...life(part),
  resources: resourcesOf(part),
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  volumeMounts: [
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'secrets', mountPath: SECRETS_FOLDER, readOnly: true },
  ],
});

/** Ignores cordoned nodes, so that pods of a drained zone do not stay pending. */
const spread = (topologyKey: string, name: string) => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'DoNotSchedule',
  nodeTaintsPolicy: 'Honor',
  labelSelector: selectorOf(name),
  matchLabelKeys: ['pod-template-hash'],
});

/** The pod template of a part; services and the gateway also get spread constraints and a grace period. */
export const podOf = (part: Part) => ({
  metadata: { labels: labelsOf(part) },
  spec: {
    serviceAccountName: part.name,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(isServer(part)
      ? {
          terminationGracePeriodSeconds: GRACE_SECONDS,
          topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((key) => spread(key, part.name)),
        }
      : { restartPolicy: 'Never' }),
    securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, fsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [containerOf(part)],
    volumes: [
      { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: `${TMP_MIB}Mi` } },
      { name: 'secrets', secret: { secretName: part.name, defaultMode: READABLE_BY_GROUP } },
    ],
  },
});
