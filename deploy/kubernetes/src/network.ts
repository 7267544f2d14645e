import { PUBLIC_NETWORKS } from '@bubbles/address-guard/public-address.ts';
import type { Part } from '@bubbles/services/deployment.ts';
import { selectorOf } from './pods.ts';
import { isServer, portsOf, usesStore } from './settings.ts';
import { early, type Manifest } from './workloads.ts';

const DNS_PORT = 53;
const HTTPS_PORT = 443;
/** Mail submission: implicit TLS (RFC 8314) and STARTTLS. */
const MAIL_PORTS = [465, 587];
const MONGODB_PORT = 27_017;
const AMQP_PORTS = [5672, 5671];

const tcp = (...ports: readonly number[]) => ports.map((port) => ({ protocol: 'TCP', port }));
const publicNetworks = Object.values(PUBLIC_NETWORKS).map((ipBlock) => ({ ipBlock }));
const podsNamed = (name: string) => ({ podSelector: selectorOf(name) });

const policy = (name: string, spec: Readonly<Record<string, unknown>>): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  ...early(name),
  spec,
});

const defaultDeny = policy('default-deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });

const clusterNames = policy('to-dns', {
  podSelector: {},
  policyTypes: ['Egress'],
  egress: [
    {
      to: [
        {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
          podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
        },
      ],
      ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: DNS_PORT })),
    },
  ],
});

/** One egress policy per destination, so that an overlay changes a destination in one place. */
const wayOut = (name: string, parts: readonly Part[], egress: Readonly<Record<string, unknown>>): Manifest =>
  policy(name, {
    podSelector: { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: parts.map((part) => part.name) }] },
    policyTypes: ['Egress'],
    egress: [egress],
  });

/** Policies of the namespace: default deny, then egress that all or several parts need. */
export const commonPolicies = (parts: readonly Part[]): readonly Manifest[] => [
  defaultDeny,
  clusterNames,
  wayOut('to-store', parts.filter(usesStore), { to: [podsNamed('mongodb')], ports: tcp(MONGODB_PORT) }),
  wayOut(
    'to-broker',
    parts.filter(({ usesBroker }) => usesBroker),
    { to: [podsNamed('rabbitmq')], ports: tcp(...AMQP_PORTS) },
  ),
  wayOut(
    'to-internet',
    parts.filter(({ reaches }) => reaches.includes('internet')),
    { to: publicNetworks, ports: tcp(HTTPS_PORT) },
  ),
  wayOut(
    'to-mail-server',
    parts.filter(({ reaches }) => reaches.includes('mail server')),
    { to: publicNetworks, ports: tcp(...MAIL_PORTS) },
  ),
];

/** Ingress from the callers of a part and egress to the services that it calls. */
export const arrowsOf = (part: Part, parts: readonly Part[]): Manifest => {
  const callers = parts.filter(({ calls }) => calls.includes(part.name));
  const callees = parts.filter(({ name }) => part.calls.includes(name));
  return policy(part.name, {
    podSelector: selectorOf(part.name),
    policyTypes: ['Ingress', 'Egress'],
    ingress: callers.length === 0 ? [] : [{ from: callers.map(({ name }) => podsNamed(name)), ports: tcp(portsOf(part).http) }],
    egress: callees.map((callee) => ({ to: [podsNamed(callee.name)], ports: tcp(portsOf(callee).http) })),
  });
};

/** Lets Prometheus scrape the ops ports of services and gateway. */
export const metricsPolicy = (parts: readonly Part[]): Manifest => {
  const servers = parts.filter(isServer);
  return policy('from-prometheus', {
    podSelector: { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: servers.map(({ name }) => name) }] },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
        ports: tcp(...new Set(servers.map((part) => portsOf(part).ops))),
      },
    ],
  });
};
