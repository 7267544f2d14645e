import { z } from 'zod';
import { type Documents, isJson, mergedFrom, readJson } from './releases.ts';
import { stepsOf, valueAt } from './spots.ts';

const Edit = z.strictObject({
  at: z.string().meta({ description: 'A JSON pointer; empty for the whole document' }),
  remove: z.literal(true).optional(),
  set: z.unknown().optional(),
  /** Of a field: from, to. */
  rename: z.tuple([z.string(), z.string()]).optional(),
  /** Of a part of a text: from, to. */
  replace: z.tuple([z.string(), z.string()]).optional(),
  /** The same wherever it stands. */
  everywhere: z.tuple([z.string(), z.string()]).optional(),
  fields: z.record(z.string(), z.unknown()).optional(),
  /** Of a list: what is added, what is taken out. */
  and: z.array(z.unknown()).optional(),
  without: z.array(z.unknown()).optional(),
  nullable: z.literal(true).optional(),
});
type Edit = z.infer<typeof Edit>;

/** What an owner does to the document of a service, of `every service` or of the `events`. */
const Mutation = z.strictObject({ name: z.string(), of: z.string(), edits: z.array(Edit).min(1) });
type Mutation = z.infer<typeof Mutation>;
const Mutations = z.strictObject({
  /** `says`: the producer, its consumers, the place and the change. */
  breaking: z.array(Mutation.extend({ says: z.string().min(1) })),
  additions: z.array(Mutation),
});
export const { breaking: BREAKING, additions: ADDITIONS } = Mutations.parse(readJson(new URL('mutations.json', import.meta.url)));

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const objectOf = (value: unknown): object => (isJson(value) ? value : {});

const edited = (value: unknown, { set, rename, replace, everywhere, fields, and, without, nullable }: Edit): unknown => {
  if (rename) return Object.fromEntries(Object.entries(objectOf(value)).map(([name, one]) => [name === rename[0] ? rename[1] : name, one]));
  if (replace) return String(value).replace(...replace);
  if (everywhere) return JSON.parse(JSON.stringify(value).replaceAll(...everywhere));
  if (fields) return { ...objectOf(value), ...fields };
  if (and) return [...listOf(value), ...and];
  if (without) return listOf(value).filter((one) => !without.includes(one));
  return nullable ? { anyOf: [value, { type: 'null' }] } : set;
};

/** False when there is nothing to change. */
const change = (document: unknown, pointer: string, edit: Edit): boolean => {
  const steps = stepsOf(pointer);
  const [parent, last = ''] = [valueAt(document, steps.slice(0, -1)), steps.at(-1)];
  if (typeof parent !== 'object' || parent === null) return false;
  if (edit.remove !== true) return Reflect.set(parent, last, edited(Reflect.get(parent, last), edit));
  if (!Object.hasOwn(parent, last)) return false;
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else Reflect.deleteProperty(parent, last);
  return true;
};

/** The documents as they are once all of these changes were made to the tree and the documents were generated. */
export const mutated = (documents: Documents, mutations: readonly Mutation[]): Documents => {
  const { services, events } = documents;
  const copy: Pick<Documents, 'services' | 'events'> = JSON.parse(JSON.stringify({ services, events }));
  const targetsOf = (of: string, at: string): readonly string[] => {
    if (of === 'events') return ['/events'];
    // Services that show the same component say the same of it.
    const isShared = of === 'every service' || at.startsWith('/components/');
    return Object.keys(services)
      .filter((service) => isShared || service === of)
      .map((service) => `/services/${service}`);
  };
  for (const { name, of, edits } of mutations)
    for (const edit of edits) {
      const changed = targetsOf(of, edit.at).map((target) => change(copy, `${target}${edit.at}`, edit));
      if (!changed.includes(true)) throw new Error(`${name}: there is no ${edit.at}`);
    }
  return { ...copy, merged: mergedFrom(copy.services) };
};
