import { cloneData, type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { storeRefusal } from '@bubbles/store/store-errors.ts';
import { equalities } from './conditions.ts';
import { rootOf } from './paths.ts';
import { UPDATE_OPERATORS, type UpdateOperator } from './update-operators.ts';
import { slotAt } from './update-slot.ts';
import { equalValues } from './value-order.ts';

interface Change {
  readonly name: string;
  readonly operator: UpdateOperator;
  readonly path: string;
  readonly operand: unknown;
}

/** An update in which everything that can be known to be wrong without a document has been refused. */
export type Changes = readonly Change[];

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

/** The document after the update; the one that is given is left as it is, and shares with the new one what lies below fields that are not named. */
export const updated = (doc: Fields, changes: Changes): Fields => {
  const next = { ...doc };
  const applied = changes.filter(({ name }) => name !== '$setOnInsert');
  for (const root of new Set(applied.map(({ path }) => rootOf(path)))) if (Object.hasOwn(doc, root)) next[root] = cloneData(doc[root]);
  for (const change of applied) applyChange(next, change);
  if (!equalValues(next['_id'], doc['_id'])) throw storeRefusal('The _id of a document cannot be changed.');
  return next;
};

/** The document that an upsert inserts when none matched. */
export const upserted = (filter: Fields, changes: Changes): Fields => {
  const doc: Fields = {};
  for (const [path, value] of equalities(filter)) slotAt(doc, path, true)?.put(cloneData(value));
  for (const change of changes) applyChange(doc, change);
  return doc;
};
