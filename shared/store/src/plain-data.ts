import { types } from 'node:util';
import { storeRefusal } from './collection.ts';

export type Fields = Record<string, unknown>;

/** Also true for objects of another realm, whose prototype is not our `Object.prototype`. */
export const isPlainObject = (value: unknown): value is Fields => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || (!Array.isArray(value) && Object.getPrototypeOf(prototype) === null);
};

/** Filters, updates and documents are plain objects, though the driver types their fields. */
export const asFields = (value: object): Fields => value as Fields;

export const isBytes = (value: unknown): value is Uint8Array => ArrayBuffer.isView(value);

const cloneFields = (fields: Fields): Fields => {
  const copy = { ...fields };
  for (const name in copy) {
    const value = copy[name];
    if (typeof value === 'object' && value !== null) copy[name] = cloneData(value);
  }
  return copy;
};

const cloneArray = (array: readonly unknown[]): unknown[] => {
  const copy = array.slice();
  for (let at = 0; at < copy.length; at += 1) {
    const value = copy[at];
    if (typeof value === 'object' && value !== null) copy[at] = cloneData(value);
  }
  return copy;
};

/** A deep copy of what a document may hold; bytes come out as `Buffer`, as from the driver. */
export const cloneData = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return cloneArray(value);
  if (isPlainObject(value)) return cloneFields(value);
  if (isBytes(value)) return Buffer.from(value);
  return types.isDate(value) ? new Date(value.getTime()) : value;
};

const isUnnestedValue = (value: unknown): boolean => {
  if (value === null) return true;
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return types.isDate(value) ? !Number.isNaN(value.getTime()) : isBytes(value) || types.isRegExp(value);
};

/** Documents, filters and updates hold plain data: null, booleans, numbers, strings, dates, bytes, arrays and plain objects. */
export const refuseForeignData = (value: unknown, path = ''): void => {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) refuseForeignData(item, `${path}.${at}`);
    return;
  }
  if (isPlainObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      if (name === '__proto__') throw storeRefusal(`A field must not be named ${name}.`);
      refuseForeignData(item, path === '' ? name : `${path}.${name}`);
    }
    return;
  }
  if (!isUnnestedValue(value)) throw storeRefusal(`'${path}' holds a value of type ${typeof value} that cannot be stored.`);
};

/** Refuses a document without a text `_id`, with foreign data, or with names that look like paths or operators. */
export const refuseUnstorableDocument = (doc: Fields): void => {
  if (typeof doc['_id'] !== 'string' || doc['_id'] === '') throw storeRefusal('The _id of a document must be a text that is not empty.');
  for (const name of Object.keys(doc)) {
    if (name.startsWith('$') || name.includes('.')) throw storeRefusal(`A field must not be named '${name}'.`);
  }
  refuseForeignData(doc);
};
