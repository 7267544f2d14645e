import { annotate, copyAs, drop, type Mutation, push, set } from './mutations.ts';

const GATEWAY = 'Deployment/gateway';
const POD = 'spec.template.spec';
const CONTAINER = `${POD}.containers.0`;
const SPREAD = `${POD}.topologySpreadConstraints`;
const WAVE = 'argocd.argoproj.io/sync-wave';
const anywhere = { podSelector: {} };

/** For each rule what breaks it. */
export const BREAKS: Readonly<Record<string, readonly Mutation[]>> = {
  'a rollout takes no pod away before another is ready': [
    set(GATEWAY, 'spec.strategy.rollingUpdate.maxUnavailable', 1),
    set(GATEWAY, 'spec.strategy', { type: 'Recreate' }),
  ],
  'replicas are spread over zones': [
    set(GATEWAY, `${SPREAD}.0.topologyKey`, 'rack'),
    set(GATEWAY, `${SPREAD}.0.matchLabelKeys`),
    set(GATEWAY, `${SPREAD}.0.nodeTaintsPolicy`, 'Ignore'),
  ],
  'replicas are spread over nodes': [
    set(GATEWAY, `${SPREAD}.1.topologyKey`, 'rack'),
    set(GATEWAY, `${SPREAD}.1.labelSelector.matchLabels`, { 'app.kubernetes.io/name': 'signup' }),
  ],
  'probes ask the ops port, each its own path': [
    set(GATEWAY, `${CONTAINER}.livenessProbe.httpGet.path`, '/readyz'),
    set(GATEWAY, `${CONTAINER}.readinessProbe.httpGet.port`, 'http'),
    set(GATEWAY, `${CONTAINER}.startupProbe`),
  ],
  'a pod sleeps before it is told to end': [
    set(GATEWAY, `${CONTAINER}.lifecycle`),
    set(GATEWAY, `${CONTAINER}.lifecycle.preStop.sleep.seconds`, 1),
  ],
  'the grace period covers the sleep and the longest end': [set(GATEWAY, `${POD}.terminationGracePeriodSeconds`, 30)],
  'CPU, memory and ephemeral storage are requested': ['cpu', 'memory', 'ephemeral-storage'].map((name) =>
    set('Job/topology', `${CONTAINER}.resources.requests.${name}`),
  ),
  'memory and ephemeral storage are limited': ['memory', 'ephemeral-storage'].map((name) =>
    set(GATEWAY, `${CONTAINER}.resources.limits.${name}`),
  ),
  'CPU is not limited': [set(GATEWAY, `${CONTAINER}.resources.limits.cpu`, '1')],
  'the heap leaves a quarter of the memory to the rest': [
    set(GATEWAY, `${CONTAINER}.resources.limits.memory`, '2Gi'),
    set(GATEWAY, `${CONTAINER}.command`, ['node', 'src/main.ts']),
  ],
  'no pod runs as root': [set(GATEWAY, `${POD}.securityContext.runAsNonRoot`, false)],
  'parts run as the user of their image': [
    set(GATEWAY, `${POD}.securityContext.runAsUser`, 1000),
    set(GATEWAY, `${POD}.securityContext.fsGroup`),
  ],
  'system calls are filtered': [set(GATEWAY, `${POD}.securityContext.seccompProfile.type`, 'Unconfined')],
  'no container has a capability': [
    set(GATEWAY, `${CONTAINER}.securityContext.capabilities`, { drop: ['ALL'], add: ['NET_BIND_SERVICE'] }),
    set(GATEWAY, `${CONTAINER}.securityContext.capabilities`),
  ],
  'no container gains privileges': [set(GATEWAY, `${CONTAINER}.securityContext.allowPrivilegeEscalation`)],
  'the root file system is read-only': [set(GATEWAY, `${CONTAINER}.securityContext.readOnlyRootFilesystem`, false)],
  'temporary files lie in memory': [
    set(GATEWAY, `${POD}.volumes.0.emptyDir`, {}),
    set(GATEWAY, `${CONTAINER}.volumeMounts.0.mountPath`, '/var'),
  ],
  'no pod has a token of the cluster': [set(GATEWAY, `${POD}.automountServiceAccountToken`)],
  'no environment tells of other services': [set(GATEWAY, `${POD}.enableServiceLinks`, true)],
  'each part has an account of its own': [
    set(GATEWAY, `${POD}.serviceAccountName`, 'default'),
    set('ServiceAccount/gateway', 'automountServiceAccountToken'),
    drop('ServiceAccount/topology'),
  ],
  'each pod has one container': [push(GATEWAY, `${POD}.containers`, { name: 'sidecar' })],
  'secrets are files that the group reads': [
    set(GATEWAY, `${POD}.volumes.1.secret.defaultMode`, 0o444),
    set(GATEWAY, `${POD}.volumes.1.secret.secretName`, 'signup'),
  ],
  'no environment holds a secret': [
    push(GATEWAY, `${CONTAINER}.envFrom`, { secretRef: { name: 'gateway' } }),
    set(GATEWAY, `${CONTAINER}.env`, [{ name: 'SERVICE_KEY', valueFrom: { secretKeyRef: { name: 'gateway', key: 'SERVICE_KEY' } } }]),
  ],
  'settings come from the map of the part alone': [set(GATEWAY, `${CONTAINER}.env`, [{ name: 'SERVICE_KEY', value: 'a' }])],
  'each server has a budget of one missing pod': [
    drop('PodDisruptionBudget/gateway'),
    set('PodDisruptionBudget/gateway', 'spec.unhealthyPodEvictionPolicy'),
    set('PodDisruptionBudget/gateway', 'spec.selector.matchLabels', {}),
    copyAs('PodDisruptionBudget/gateway', 'again'),
  ],
  'each server has one autoscaler': [
    drop('HorizontalPodAutoscaler/gateway'),
    drop('ScaledObject/signup'),
    copyAs('HorizontalPodAutoscaler/gateway', 'again'),
  ],
  'an autoscaler keeps two replicas at least': [
    set('HorizontalPodAutoscaler/gateway', 'spec.minReplicas', 1),
    set('ScaledObject/signup', 'spec.minReplicaCount', 0),
  ],
  'an autoscaler takes pods away slowly': [
    set('HorizontalPodAutoscaler/gateway', 'spec.behavior'),
    set('HorizontalPodAutoscaler/gateway', 'spec.behavior.scaleDown.stabilizationWindowSeconds', 0),
    set('ScaledObject/signup', 'spec.advanced'),
  ],
  'an autoscaler of KEDA takes over the one that runs': [
    annotate('ScaledObject/signup', 'scaledobject.keda.sh/transfer-hpa-ownership'),
    set('ScaledObject/signup', 'spec.advanced.horizontalPodAutoscalerConfig.name'),
    set('ScaledObject/signup', 'spec.advanced.horizontalPodAutoscalerConfig.name', 'keda-hpa-signup'),
  ],
  'who has an autoscaler has no number of replicas': [set(GATEWAY, 'spec.replicas', 2), drop('HorizontalPodAutoscaler/gateway')],
  'identity has two replicas at least': [set('HorizontalPodAutoscaler/identity-and-oauth', 'spec.minReplicas', 1)],
  'jobs run before the pods of a release': [
    annotate('Job/topology', 'argocd.argoproj.io/hook'),
    annotate('Job/topology', WAVE, '1'),
    drop('Job/topology'),
  ],
  'a job has an end': [set('Job/topology', 'spec.activeDeadlineSeconds')],
  'what a job needs is applied before it': [
    annotate('NetworkPolicy/to-broker', WAVE),
    annotate('ExternalSecret/topology', WAVE, '0'),
    annotate('ConfigMap/topology', WAVE),
  ],
  'pods of servers wait for the jobs': [annotate(GATEWAY, WAVE, '-2')],
  'the namespace takes restricted pods alone': [
    set('Namespace/bubbles', 'metadata.labels', { 'pod-security.kubernetes.io/enforce': 'baseline' }),
    drop('Namespace/bubbles'),
  ],
  'a route gives up after the gateway': [
    set('HTTPRoute/gateway', 'spec.rules.0.timeouts'),
    set('HTTPRoute/gateway', 'spec.rules.0.timeouts.backendRequest', '60s'),
  ],
  'metrics of each server are collected once': [
    drop('ServiceMonitor/gateway'),
    set('ServiceMonitor/gateway', 'spec.endpoints.0.port', 'http'),
  ],
  'metrics keep the name of the service that they say': [
    set('ServiceMonitor/gateway', 'spec.endpoints.0.honorLabels'),
    push('ServiceMonitor/gateway', 'spec.endpoints', { port: 'ops', honorLabels: false }),
  ],
  'images are named by digest': [
    set(GATEWAY, `${CONTAINER}.image`, 'registry.example.com/bubbles/gateway:latest'),
    set('Job/topology', `${CONTAINER}.image`, 'bubbles/topology'),
  ],
  'images that no registry has are not asked for': [set(GATEWAY, `${CONTAINER}.image`, 'localhost/bubbles/gateway:latest')],
  'no secret is written down': [
    (manifests) => manifests.push({ kind: 'Secret', metadata: { name: 'gateway', labels: {}, annotations: {} } }),
  ],
  'settings that change start new pods': [
    (manifests) => {
      for (const one of manifests) if (one.kind === 'ConfigMap') one.metadata.name = one.metadata.name.replace(/-[a-z0-9]{10}$/, '');
    },
  ],
  'services lead to their pods': [
    set('Service/gateway', 'spec.ports.0.targetPort', 'web'),
    set('Service/gateway', 'spec.selector', { 'app.kubernetes.io/name': 'gate' }),
    set('Service/gateway', 'spec.ports.0.port', 80),
  ],
  'the gateway asks ready replicas by headless names': [
    set('Service/signup-headless', 'spec.clusterIP'),
    set('ConfigMap/gateway', 'data.UPSTREAMS', 'signup=http://signup:8080'),
  ],
  'every part is deployed': [drop('Deployment/signup'), drop('Job/topology')],
  'everything is refused that no policy allows': [
    drop('NetworkPolicy/default-deny'),
    set('NetworkPolicy/default-deny', 'spec.policyTypes', ['Ingress']),
    set('NetworkPolicy/default-deny', 'spec.podSelector', { matchLabels: { 'app.kubernetes.io/name': 'gateway' } }),
  ],
  'names of the cluster can be resolved': [
    drop('NetworkPolicy/to-dns'),
    set('NetworkPolicy/to-dns', 'spec.egress.0.ports', [{ protocol: 'TCP', port: 53 }]),
  ],
  'each part calls those that the code names': [
    set('NetworkPolicy/signup', 'spec.egress', []),
    push('NetworkPolicy/signup', 'spec.egress', { to: [anywhere], ports: [{ protocol: 'TCP', port: 8080 }] }),
  ],
  'each part is called by those that the code names': [
    set('NetworkPolicy/signup', 'spec.ingress', []),
    set('NetworkPolicy/signup', 'spec.ingress', [{}]),
    set('NetworkPolicy/signup', 'spec.ingress.0.ports'),
  ],
  'each part goes out where the code does': [
    drop('NetworkPolicy/to-internet'),
    copyAs('NetworkPolicy/to-internet', 'to-elsewhere'),
    push('NetworkPolicy/to-mail-server', 'spec.podSelector.matchExpressions.0.values', 'gateway'),
    set('NetworkPolicy/to-store', 'spec.podSelector.matchExpressions.0.values', ['signup']),
  ],
  'the way to the internet is https alone': [
    push('NetworkPolicy/to-internet', 'spec.egress.0.ports', { protocol: 'TCP', port: 22 }),
    set('NetworkPolicy/to-internet', 'spec.egress.0.ports.0.port', 80),
  ],
  'no way out leads to private networks': [
    set('NetworkPolicy/to-internet', 'spec.egress.0.to.0.ipBlock.except', ['10.0.0.0/8']),
    set('NetworkPolicy/to-internet', 'spec.egress.0.to.1.ipBlock', { cidr: '::/0' }),
    set('NetworkPolicy/to-mail-server', 'spec.egress.0.to.0.ipBlock.except'),
  ],
  'no way out leads everywhere': [
    set('NetworkPolicy/to-broker', 'spec.egress.0.to', []),
    set('NetworkPolicy/to-store', 'spec.egress.0.ports'),
  ],
  'each part is told what it reads, nothing else': [
    set('ConfigMap/gateway', 'data.UPSTREAMS'),
    set('ConfigMap/gateway', 'data.SEAL_KEYS_FILE', '/run/secrets/bubbles/SEAL_KEYS'),
    set('ConfigMap/signup', 'data.SEAL_KEYS', 'k1=a'),
    set('ConfigMap/signup', 'data.LOG_LEVEL_FILE', '/run/secrets/bubbles/LOG_LEVEL'),
    set('ConfigMap/signup', 'data.SEAL_KEYS_FILE', '/tmp/SEAL_KEYS'),
  ],
  'each part can read what it is told': [
    set('ConfigMap/gateway', 'data.TRUSTED_PROXIES', '10.0.0.0/64'),
    set('ConfigMap/signup', 'data.PUBLIC_BASE_URL', 'api.example.com'),
  ],
  'the secret of each part has the keys that its settings name': [
    drop('ExternalSecret/gateway'),
    set('ExternalSecret/signup', 'spec.data.0.secretKey', 'MONGO_URL'),
    set('ConfigMap/gateway', 'data.SERVICE_KEY_FILE'),
  ],
  'each queue of a worker scales it': [
    set('ScaledObject/signup', 'spec.triggers.1.metadata.queueName', 'signup.other'),
    push('ScaledObject/signup', 'spec.triggers', { type: 'rabbitmq', metadata: { queueName: 'bubbles-query.bubble.ready.v1' } }),
  ],
};
