import { type Direction, storeRefusal } from '@bubbles/store/collection.ts';
import { cloneData, type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { elementMatcher } from './matcher.ts';
import { sortValueReader } from './paths.ts';
import { compareValues, equalValues } from './value-order.ts';

export interface UpdateOperator {
  /** Whether a missing field is made. */
  readonly creates: boolean;
  /** The new value for the current one; `undefined` means that there is none. */
  apply(current: unknown, operand: unknown): unknown;
}

const PUSH_MODIFIERS = ['$each', '$position', '$slice', '$sort'] as const;

const numberOf = (value: unknown, what: string): number => {
  if (typeof value !== 'number') throw storeRefusal(`${what} is not a number.`);
  return value;
};

const arrayOf = (value: unknown, operator: string): unknown[] => {
  if (!Array.isArray(value)) throw storeRefusal(`${operator} needs an array.`);
  return value;
};

const modifiersOf = (operand: unknown, operator: string, allowed: readonly string[]): Fields | null => {
  if (!isPlainObject(operand) || !Object.keys(operand).some((name) => name.startsWith('$'))) return null;
  const wrong = Object.keys(operand).find((name) => !allowed.includes(name));
  if (wrong !== undefined || !('$each' in operand)) throw storeRefusal(`${operator} does not know ${wrong ?? 'a modifier without $each'}.`);
  return operand;
};

const directionOf = (value: unknown): Direction => {
  if (value !== 1 && value !== -1) throw storeRefusal('A $sort is 1 or -1.');
  return value;
};

const sortElements = (elements: unknown[], sort: unknown): void => {
  if (!isPlainObject(sort)) {
    const direction = directionOf(sort);
    elements.sort((a, b) => compareValues(a, b) * direction);
    return;
  }
  const order = Object.entries(sort).map(([path, direction]) => ({
    read: sortValueReader(path, directionOf(direction)),
    direction: directionOf(direction),
  }));
  const keyOf = (element: unknown, read: (doc: Fields) => unknown) => (isPlainObject(element) ? read(element) : undefined);
  elements.sort((a, b) => {
    for (const { read, direction } of order) {
      const difference = compareValues(keyOf(a, read), keyOf(b, read));
      if (difference !== 0) return difference * direction;
    }
    return 0;
  });
};

const slice = (elements: readonly unknown[], size: number): unknown[] => {
  if (size === 0) return [];
  return size < 0 ? elements.slice(size) : elements.slice(0, size);
};

const push = (current: unknown, operand: unknown): unknown[] => {
  const elements = current === undefined ? [] : [...arrayOf(current, '$push')];
  const modifiers = modifiersOf(operand, '$push', PUSH_MODIFIERS);
  if (!modifiers) return [...elements, cloneData(operand)];
  const position = '$position' in modifiers ? numberOf(modifiers['$position'], '$position') : elements.length;
  const added = arrayOf(cloneData(modifiers['$each']), '$each');
  const pushed = [...elements.slice(0, position), ...added, ...elements.slice(position)];
  if ('$sort' in modifiers) sortElements(pushed, modifiers['$sort']);
  return '$slice' in modifiers ? slice(pushed, numberOf(modifiers['$slice'], '$slice')) : pushed;
};

const addToSet = (current: unknown, operand: unknown): unknown[] => {
  const elements = current === undefined ? [] : [...arrayOf(current, '$addToSet')];
  const modifiers = modifiersOf(operand, '$addToSet', ['$each']);
  const texts = new Set(elements.filter((element) => typeof element === 'string'));
  // Texts by hash: others are few, and compared one by one.
  const isThere = (item: unknown) => (typeof item === 'string' ? texts.has(item) : elements.some((element) => equalValues(element, item)));
  for (const item of modifiers ? arrayOf(modifiers['$each'], '$each') : [operand]) {
    if (isThere(item)) continue;
    elements.push(cloneData(item));
    if (typeof item === 'string') texts.add(item);
  }
  return elements;
};

const pull = (current: unknown, operand: unknown): unknown => {
  if (current === undefined) return undefined;
  const matches = elementMatcher(operand);
  return arrayOf(current, '$pull').filter((element) => !matches(element));
};

/** The operand when it lies on the wanted side of the current value, else the current value. */
const extreme = (side: Direction) => (current: unknown, operand: unknown) =>
  current === undefined || compareValues(operand, current) * side > 0 ? cloneData(operand) : current;

/** The operators that stores may use; MongoDB's meaning, its refusals included. */
export const UPDATE_OPERATORS: ReadonlyMap<string, UpdateOperator> = new Map<string, UpdateOperator>([
  ['$set', { creates: true, apply: (_current, operand) => cloneData(operand) }],
  ['$setOnInsert', { creates: true, apply: (_current, operand) => cloneData(operand) }],
  ['$unset', { creates: false, apply: () => undefined }],
  [
    '$inc',
    {
      creates: true,
      apply: (current, operand) =>
        (current === undefined ? 0 : numberOf(current, 'The value to be increased')) + numberOf(operand, 'The increase'),
    },
  ],
  ['$min', { creates: true, apply: extreme(-1) }],
  ['$max', { creates: true, apply: extreme(1) }],
  ['$push', { creates: true, apply: push }],
  ['$addToSet', { creates: true, apply: addToSet }],
  ['$pull', { creates: false, apply: pull }],
]);
