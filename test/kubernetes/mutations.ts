import { isDeepStrictEqual } from 'node:util';
import { at, listAt, type Manifest } from './cluster-objects.ts';

/** Changes a copy of what would be sent to a cluster. */
export type Mutation = (manifests: Manifest[]) => void;

export const mutated = (manifests: readonly Manifest[], change: Mutation): readonly Manifest[] => {
  const copy: Manifest[] = JSON.parse(JSON.stringify(manifests));
  change(copy);
  if (isDeepStrictEqual(copy, manifests)) throw new Error('the mutation changes nothing');
  return copy;
};

/** `Deployment/gateway`; a generated map is found without its hash. */
export const find = (manifests: readonly Manifest[], id: string): Manifest => {
  const [kind = '', name = ''] = id.split('/');
  const found = manifests.find(
    (one) =>
      one.kind === kind &&
      (one.metadata.name === name ||
        (kind === 'ConfigMap' && one.metadata.name.startsWith(`${name}-`) && one.metadata.name.length === name.length + 11)),
  );
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
};

/** Takes a value away when none is given; `key` may hold dots. */
export const setKey = (target: unknown, key: string, value?: unknown): void => {
  if (typeof target !== 'object' || target === null) throw new TypeError(`nothing has ${key}`);
  if (value === undefined) Reflect.deleteProperty(target, key);
  else Reflect.set(target, key, value);
};

export const set =
  (id: string, path: string, value?: unknown): Mutation =>
  (manifests) => {
    const keys = path.split('.');
    const parent = keys.slice(0, -1).join('.');
    const object = find(manifests, id);
    setKey(parent === '' ? object : at(object, parent), keys.at(-1) ?? '', value);
  };

export const annotate =
  (id: string, name: string, value?: string): Mutation =>
  (manifests) =>
    setKey(find(manifests, id).metadata.annotations, name, value);

export const push =
  (id: string, path: string, value: unknown): Mutation =>
  (manifests) => {
    const list = at(find(manifests, id), path);
    if (!Array.isArray(list)) throw new TypeError(`${id} has no list ${path}`);
    list.push(value);
  };

export const drop =
  (id: string): Mutation =>
  (manifests) => {
    manifests.splice(manifests.indexOf(find(manifests, id)), 1);
  };

/** A second one, under another name. */
export const copyAs =
  (id: string, name: string): Mutation =>
  (manifests) => {
    const found = find(manifests, id);
    manifests.push({ ...found, metadata: { ...found.metadata, name } });
  };

const names = (peer: unknown, name: string) =>
  at(peer, 'podSelector.matchLabels') !== undefined && JSON.stringify(peer).includes(`"${name}"`);

/** Takes one peer out of the rules of a NetworkPolicy. */
export const without = (manifests: Manifest[], id: string, peer: { readonly ingress?: string; readonly egress?: string }): void => {
  const policy = find(manifests, id);
  const rules = (direction: 'ingress' | 'egress', field: 'from' | 'to', name: string) =>
    listAt(policy, `spec.${direction}`)
      .map((rule) => ({ ...Object(rule), [field]: listAt(rule, field).filter((one) => !names(one, name)) }))
      .filter((rule) => listAt(rule, field).length > 0);
  if (peer.egress !== undefined) setKey(policy['spec'], 'egress', rules('egress', 'to', peer.egress));
  if (peer.ingress !== undefined) setKey(policy['spec'], 'ingress', rules('ingress', 'from', peer.ingress));
};
