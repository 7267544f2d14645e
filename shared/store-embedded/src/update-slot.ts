import { type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { storeRefusal } from '@bubbles/store/store-errors.ts';
import { isArrayIndex } from './paths.ts';

type Container = Fields | unknown[];

/** One place in a document that is being changed. */
export interface Slot {
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
 * The place at the path. What is missing on the way is made when `create`, else there is no place; a scalar on the way, or a name within an array, is
 * refused when `create`.
 */
export const slotAt = (doc: Fields, path: string, create: boolean): Slot | null => {
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
