import type { Part } from '@bubbles/services/deployment.ts';
import { isServer, portsOf, roleOf, SECRETS_FOLDER, usualNumber } from './settings.ts';

/** The user of the images. */
const USER = 10_001;
const TMP_MIB = 64;
const MIB_OF_A_SERVICE = 384;
/** Beside its buffers for bodies that have not arrived and answers that clients have not read. */
const MIB_OF_THE_GATEWAY = 640;
/** Of the memory limit; the rest is for buffers, threads and the code. */
const HEAP_SHARE = 0.75;
/** Not in octal: Kubernetes reads it as a number. It is 0440. */
const READABLE_BY_GROUP = 0o440;

/** Longer than a load balancer needs to notice that the pod leaves. */
const LEAVE_SECONDS = 8;
/** The sleep before the end, the notice, the last requests, and the time that a process is given before it is cut. */
const GRACE_SECONDS = 45;

export const labelsOf = (part: Part) => ({
  'app.kubernetes.io/name': part.name,
  'app.kubernetes.io/part-of': 'bubbles',
  'app.kubernetes.io/component': roleOf(part) ?? '',
});
export const selectorOf = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });

/** What the search index of a process may take comes on top. */
const memoryOf = (part: Part): number =>
  (part.kind === 'gateway' ? MIB_OF_THE_GATEWAY : MIB_OF_A_SERVICE) + (usualNumber(part, 'SEARCH_MEMORY_MIB') ?? 0);

const resourcesOf = (part: Part) => ({
  requests: { cpu: isServer(part) ? '200m' : '50m', memory: `${memoryOf(part) / 2}Mi`, 'ephemeral-storage': '64Mi' },
  // No limit of CPU: throttling looks like a slow event loop, and makes a process refuse.
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
  // NODE_OPTIONS is left to whoever traces.
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

/** A node that takes no pods does not count, so that a drained zone keeps nobody waiting. */
const spread = (topologyKey: string, name: string) => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'DoNotSchedule',
  nodeTaintsPolicy: 'Honor',
  labelSelector: selectorOf(name),
  matchLabelKeys: ['pod-template-hash'],
});

/** Of a pod, with its labels: what every part has, and what only those have that go on. */
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
