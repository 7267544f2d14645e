import { PUBLIC_NETWORKS } from '@bubbles/address-guard/public-address.ts';
import type { Part } from '@bubbles/services/deployment.ts';
import { at, listAt, type Manifest, nameOf, numberAt, ofKind, type Pod, partPods, podsOf, selects } from './cluster-objects.ts';
import type { Rule } from './pod-rules.ts';

type Direction = 'ingress' | 'egress';
const PEERS = { ingress: 'from', egress: 'to' } as const;
const TYPES = { ingress: 'Ingress', egress: 'Egress' } as const;
/** Whoever may reach it may reach any port. */
const NOBODY_LISTENS = 1;

const policiesFor = (manifests: readonly Manifest[], { labels }: Pod, direction: Direction): readonly Manifest[] =>
  ofKind(manifests, 'NetworkPolicy').filter(
    (policy) => listAt(policy, 'spec.policyTypes').includes(TYPES[direction]) && selects(at(policy, 'spec.podSelector'), labels),
  );

/** Absent or empty lists mean anybody, and any port. */
const matches = (list: readonly unknown[], isMatch: (one: unknown) => boolean): boolean => list.length === 0 || list.some(isMatch);

const isPeer = (peer: unknown, other: Pod): boolean => {
  const isElsewhere = at(peer, 'namespaceSelector') !== undefined || at(peer, 'ipBlock') !== undefined;
  return !isElsewhere && selects(at(peer, 'podSelector'), other.labels);
};

/** One end of a connection inside the namespace. A pod that no policy selects is open. */
const lets = (manifests: readonly Manifest[], direction: Direction, [pod, other, port]: readonly [Pod, Pod, number]): boolean => {
  const policies = policiesFor(manifests, pod, direction);
  return (
    policies.length === 0 ||
    policies
      .flatMap((policy) => listAt(policy, `spec.${direction}`))
      .some(
        (rule) =>
          matches(listAt(rule, PEERS[direction]), (peer) => isPeer(peer, other)) &&
          matches(listAt(rule, 'ports'), (open) => numberAt(open, 'port') === port),
      )
  );
};

/** Ways out of the product, by the policy that opens them: who needs each. */
const WAYS_OUT: Readonly<Record<string, (part: Part) => boolean>> = {
  'to-store': ({ variables }) => variables.some(({ name }) => name === 'MONGODB_URL'),
  'to-broker': ({ usesBroker }) => usesBroker,
  'to-internet': ({ reaches }) => reaches.includes('internet'),
  'to-mail-server': ({ reaches }) => reaches.includes('mail server'),
};
const FOR_ALL = ['default-deny', 'to-dns'];
/** Of a component, for all servers. */
const TO_COLLECTOR = 'to-collector';

const portOf = ({ variables }: Part, variable: string): number =>
  Number(variables.find(({ name }) => name === variable)?.defaultText ?? NOBODY_LISTENS);

const arrows = (parts: readonly Part[], manifests: readonly Manifest[], direction: Direction): readonly string[] => {
  const pods = new Map(partPods(manifests).map((pod) => [nameOf(pod), pod]));
  const ports = [...new Set(parts.flatMap((part) => [portOf(part, 'PORT'), portOf(part, 'OPS_PORT')]))];
  return parts.flatMap((from) =>
    parts.flatMap((to) => {
      const [source, target] = [pods.get(from.name), pods.get(to.name)];
      if (source === undefined || target === undefined) return [`${from.name} or ${to.name} is not deployed`];
      return ports.flatMap((port) => {
        const isWanted = from.calls.includes(to.name) && port === portOf(to, 'PORT');
        const ends = direction === 'egress' ? ([source, target, port] as const) : ([target, source, port] as const);
        return lets(manifests, direction, ends) === isWanted ? [] : [`${from.name} -> ${to.name}:${port}`];
      });
    }),
  );
};

const rangesOf = (policy: Manifest) =>
  listAt(policy, 'spec.egress').flatMap((rule) => listAt(rule, 'to').map((peer) => at(peer, 'ipBlock')));
const REFUSED: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.values(PUBLIC_NETWORKS).map(({ cidr, except }) => [cidr, except]),
);
/** A range of one's own, such as that of a managed store, is fine; all the world is only so without what is private. */
const isSafe = (range: unknown): boolean => {
  const cidr = String(at(range, 'cidr'));
  const except = listAt(range, 'except');
  return !/\/[0-7]$/.test(cidr) || (REFUSED[cidr] ?? [cidr]).every((network) => except.includes(network));
};

export const networkRules = (parts: readonly Part[]): Readonly<Record<string, Rule>> => ({
  'everything is refused that no policy allows': (manifests) =>
    podsOf(manifests)
      .filter((pod) => {
        const isDenied = (direction: Direction) =>
          policiesFor(manifests, pod, direction).some(
            (policy) =>
              Object.keys(Object(at(policy, 'spec.podSelector'))).length === 0 && listAt(policy, `spec.${direction}`).length === 0,
          );
        return !(isDenied('ingress') && isDenied('egress'));
      })
      .map(nameOf),
  'names of the cluster can be resolved': (manifests) =>
    partPods(manifests)
      .filter(
        (pod) =>
          !policiesFor(manifests, pod, 'egress')
            .flatMap((policy) => listAt(policy, 'spec.egress'))
            .some((rule) =>
              ['UDP', 'TCP'].every((protocol) =>
                listAt(rule, 'ports').some((port) => at(port, 'port') === 53 && at(port, 'protocol') === protocol),
              ),
            ),
      )
      .map(nameOf),
  'each part calls those that the code names': (manifests) => arrows(parts, manifests, 'egress'),
  'each part is called by those that the code names': (manifests) => arrows(parts, manifests, 'ingress'),
  'each part goes out where the code does': (manifests) =>
    partPods(manifests).flatMap((pod) => {
      const part = parts.find(({ name }) => name === nameOf(pod));
      const found = policiesFor(manifests, pod, 'egress').flatMap(({ metadata: { name } }) => (name === TO_COLLECTOR ? [] : [name]));
      const wanted = Object.entries(WAYS_OUT).flatMap(([policy, needs]) => (part !== undefined && needs(part) ? [policy] : []));
      const expected = [...FOR_ALL, nameOf(pod), ...wanted];
      return [...expected.filter((name) => !found.includes(name)), ...found.filter((name) => !expected.includes(name))].map(
        (name) => `${nameOf(pod)}: ${name}`,
      );
    }),
  'the way to the internet is https alone': (manifests) =>
    ofKind(manifests, 'NetworkPolicy')
      .filter(({ metadata }) => metadata.name === 'to-internet')
      .filter(
        (policy) =>
          !listAt(policy, 'spec.egress').every(
            (rule) => listAt(rule, 'to').length > 0 && listAt(rule, 'ports').length === 1 && numberAt(rule, 'ports.0.port') === 443,
          ),
      )
      .map(({ metadata }) => metadata.name),
  'no way out leads to private networks': (manifests) =>
    ofKind(manifests, 'NetworkPolicy')
      .filter((policy) => !rangesOf(policy).every((range) => range === undefined || isSafe(range)))
      .map(({ metadata }) => metadata.name),
  'no way out leads everywhere': (manifests) =>
    ofKind(manifests, 'NetworkPolicy')
      .filter((policy) =>
        listAt(policy, 'spec.egress').some((rule) => listAt(rule, 'to').length === 0 || listAt(rule, 'ports').length === 0),
      )
      .map(({ metadata }) => metadata.name),
});
