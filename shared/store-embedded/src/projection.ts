import type { FindOptions } from '@bubbles/store/collection.ts';
import { cloneData, type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { storeRefusal } from '@bubbles/store/store-errors.ts';

export type Projection = NonNullable<FindOptions['projection']>;

/** The named paths as a tree; a leaf is a path that ends there. */
interface Tree {
  readonly [name: string]: Tree | null;
}

const treeOf = (paths: readonly string[]): Tree => {
  const names = new Set(paths.map((path) => path.split('.', 1)[0] ?? path));
  return Object.fromEntries(
    [...names].map((name) => {
      const below = paths.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
      return [name, paths.includes(name) ? null : treeOf(below)];
    }),
  );
};

const pick = (fields: Fields, tree: Tree): Fields => {
  const picked: Fields = {};
  for (const [name, below] of Object.entries(tree)) {
    if (!Object.hasOwn(fields, name)) continue;
    const value = below ? pickBelow(fields[name], below) : cloneData(fields[name]);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
};
const pickBelow = (value: unknown, tree: Tree): unknown => {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'object' && item !== null).map((item) => pickBelow(item, tree));
  return isPlainObject(value) ? pick(value, tree) : undefined;
};

const omit = (fields: Fields, tree: Tree): Fields => {
  const kept: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    const below = Object.hasOwn(tree, name) ? tree[name] : undefined;
    if (below !== null) kept[name] = below ? omitBelow(value, below) : cloneData(value);
  }
  return kept;
};
const omitBelow = (value: unknown, tree: Tree): unknown => {
  if (Array.isArray(value)) return value.map((item) => omitBelow(item, tree));
  return isPlainObject(value) ? omit(value, tree) : cloneData(value);
};

/** A copy of what is asked for, and of nothing else. */
export const projector = (projection: Projection | undefined): ((doc: Fields) => Fields) => {
  // A copy of an object is an object.
  if (!projection) return (doc) => cloneData(doc) as Fields;
  const entries = Object.entries(projection);
  const others = entries.filter(([path]) => path !== '_id');
  const including = (others[0] ?? entries[0])?.[1] === 1;
  if (others.some(([, shown]) => (shown === 1) !== including))
    throw storeRefusal('A projection either names what is shown or what is not.');
  const paths = entries.filter(([, shown]) => (shown === 1) === including).map(([path]) => path);
  if (!including) {
    const tree = treeOf(paths);
    return (doc) => omit(doc, tree);
  }
  const tree = treeOf(projection['_id'] === 0 ? paths : ['_id', ...paths]);
  return (doc) => pick(doc, tree);
};
