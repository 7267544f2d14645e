import { types } from 'node:util';
import { storeRefusal } from '@bubbles/store/collection.ts';
import { cloneData, type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { hasOperators } from './matcher.ts';
import { isArrayIndex, rootOf } from './paths.ts';
import { UPDATE_OPERATORS, type UpdateOperator } from './update-operators.ts';
import { equalValues } from './value-order.ts';

type Container = Fields | unknown[];

/** A field or element in a document that is being changed. */
interface Slot {
  /** `undefined` when there is nothing. */
  get(): unknown;
  put(value: unknown): void;
  /** An element of an array becomes null, so that the others keep their places. */
  remove(): void;
}

/** How far beyond its end an array may be extended. */
const MAX_PADDING = 1_500;

const isContainer = (value: unknown): value is Container => Array.isArray(value) || isPlainObject(value);

const read = (container: Container, name: string): unknown => {
  if (Array.isArray(container)) return container[Number(name)];
  return Object.hasOwn(container, name) ? container[name] : undefined;
};

const write = (container: Container, name: string, value: unknown): void => {
  if (!Array.isArray(container)) {
    container[name] = value;
    return;
  }
  const at = Number(name);
  if (at - container.length > MAX_PADDING) throw storeRefusal(`The array is too short to be written at ${at}.`);
  while (container.length < at) container.push(null);
  container[at] = value;
};

const mayName = (container: Container, name: string) => !Array.isArray(container) || isArrayIndex(name);

const slotIn = (container: Container, name: string): Slot => ({
  get: () => read(container, name),
  put: (value) => write(container, name, value),
  remove() {
    if (!Array.isArray(container)) delete container[name];
    else if (Number(name) < container.length) container[Number(name)] = null;
  },
});

/**
 * The slot at the path. With `create`, missing fields on the way are made, and a scalar or a name within an array is refused; without it they give null.
 */
const slotAt = (doc: Fields, path: string, create: boolean): Slot | null => {
  const names = path.split('.');
  const last = names.pop() ?? path;
  let container: Container = doc;
  for (const name of names) {
    const below: unknown = mayName(container, name) ? read(container, name) : null;
    if (isContainer(below)) {
      container = below;
      continue;
    }
    if (!create) return null;
    if (below !== undefined) throw storeRefusal(`Cannot create a field below '${name}' of '${path}'.`);
    const made: Fields = {};
    write(container, name, made);
    container = made;
  }
  if (mayName(container, last)) return slotIn(container, last);
  if (create) throw storeRefusal(`Cannot create the field '${last}' of '${path}' in an array.`);
  return null;
};

interface Change {
  readonly name: string;
  readonly operator: UpdateOperator;
  readonly path: string;
  readonly operand: unknown;
}

/** A checked update: what is wrong in any document has been refused. */
type Changes = readonly Change[];

const refuseConflicts = (paths: readonly string[]) => {
  const taken = new Set(paths);
  if (taken.size < paths.length) throw storeRefusal('An update changes one path twice.');
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      if (taken.has(path.slice(0, dot))) throw storeRefusal(`An update changes '${path}' and what is above it.`);
    }
  }
};

const changesOf = (name: string, fields: unknown): Change[] => {
  const operator = UPDATE_OPERATORS.get(name);
  if (!operator) throw storeRefusal(`'${name}' is no update operator that stores may use.`);
  if (!isPlainObject(fields)) throw storeRefusal(`${name} needs an object.`);
  return Object.entries(fields).map(([path, operand]) => {
    const wrong = path.split('.').some((part) => part === '' || part.startsWith('$') || part === '__proto__');
    if (wrong) throw storeRefusal(`'${path}' is no path that an update may name.`);
    return { name, operator, path, operand };
  });
};

export const parseUpdate = (update: Fields): Changes => {
  const changes = Object.entries(update).flatMap(([name, fields]) => changesOf(name, fields));
  if (changes.length === 0) throw storeRefusal('An update must change something.');
  refuseConflicts(changes.map(({ path }) => path));
  return changes;
};

const applyChange = (doc: Fields, { operator, path, operand }: Change) => {
  const slot = slotAt(doc, path, operator.creates);
  if (!slot) return;
  const value = operator.apply(slot.get(), operand);
  if (value === undefined) slot.remove();
  else slot.put(value);
};

/** A changed copy. It shares with the given document what lies below fields that the update does not name. */
export const updated = (doc: Fields, changes: Changes): Fields => {
  const next = { ...doc };
  const applied = changes.filter(({ name }) => name !== '$setOnInsert');
  for (const root of new Set(applied.map(({ path }) => rootOf(path)))) if (Object.hasOwn(doc, root)) next[root] = cloneData(doc[root]);
  for (const change of applied) applyChange(next, change);
  if (!equalValues(next['_id'], doc['_id'])) throw storeRefusal('The _id of a document cannot be changed.');
  return next;
};

/** The fields that a document inserted by an upsert has from the filter: those it names as equal. */
const equalities = (filter: Fields): readonly (readonly [string, unknown])[] =>
  Object.entries(filter).flatMap(([name, value]): (readonly [string, unknown])[] => {
    if (name === '$and' && Array.isArray(value)) return value.filter(isPlainObject).flatMap((part) => [...equalities(part)]);
    if (name.startsWith('$') || types.isRegExp(value)) return [];
    if (!hasOperators(value)) return [[name, value]];
    return '$eq' in value ? [[name, value['$eq']]] : [];
  });

/** The document that an upsert inserts when none matched. */
export const upserted = (filter: Fields, changes: Changes): Fields => {
  const doc: Fields = {};
  for (const [path, value] of equalities(filter)) slotAt(doc, path, true)?.put(cloneData(value));
  for (const change of changes) applyChange(doc, change);
  return doc;
};
