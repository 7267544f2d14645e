import type { AuthPorts } from '@bubbles/auth/guards.ts';
import { forOperators } from '@bubbles/auth/guards.ts';
import { SealsPage, SealsRequest } from '@bubbles/contracts/internal/operators.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { type Route, route } from '@bubbles/http/routes/route.ts';
import { ConfigError } from '@bubbles/kernel/config.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { createSeal, Seal } from '@bubbles/kernel/seal.ts';
import type { Collection, Database, Doc, UpdateOne } from '@bubbles/store/collection.ts';

/** Fields of a collection that hold sealed values. */
export interface SealedFields {
  readonly collection: string;
  /** Dotted paths; a value may be null or absent. */
  readonly fields: readonly string[];
  /** Context name for sealing the values of a document; its id by default. */
  readonly nameOf?: (id: string) => string;
  /** Field with the optimistic lock, which re-sealing increments so that concurrent updates read again. */
  readonly lock?: 'version' | 'revision';
}

interface SealsOptions {
  /** Name of the service, which makes the operationId unique in the product. */
  readonly service: string;
  readonly database: Database;
  readonly seal: ReturnType<typeof createSeal>;
  readonly sealed: readonly SealedFields[];
  /** Longest life, in milliseconds, of sealed values that live only in links and cookies. */
  readonly carriedMs: number;
}

const DOCUMENTS_PER_PAGE = 200;

interface Found {
  readonly filter: UpdateOne<Doc>['filter'];
  readonly place: string;
  readonly field: string;
  readonly value: string;
  readonly name: string;
}

const valueAt = (doc: Doc, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((value, name) => (typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : null), doc);

const foundIn = ({ collection, fields, nameOf = (id) => id }: SealedFields, doc: Doc): readonly Found[] =>
  fields.flatMap((field) => {
    const value = valueAt(doc, field);
    // The filter holds the value as read: a value that changed meanwhile is left to the next run.
    const filter: Record<string, unknown> = { _id: doc._id, [field]: value };
    return typeof value === 'string' ? [{ filter, place: `${collection}.${field}`, field, value, name: nameOf(doc._id) }] : [];
  });

const counted = (names: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));

/** Null when no key opens it. */
const resealed = (seal: Seal, { value, name }: Found): string | null => {
  try {
    return seal.seal(seal.unseal(value, name), name);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
};

const writeBack = (
  documents: Collection<Doc>,
  lock: SealedFields['lock'],
  written: readonly (readonly [Found, string])[],
): Promise<number> => {
  const updates = written.map(([{ filter, field }, value]) => ({
    filter,
    update: { $set: { [field]: value }, ...(lock !== undefined && { $inc: { [lock]: 1 } }) },
  }));
  return updates.length === 0 ? Promise.resolve(0) : documents.updateEach(updates);
};

/** Collection and id after which a page begins; null for an unknown collection. */
const positionOf = (sealed: readonly SealedFields[], after: string | null) => {
  const slash = after === null ? 0 : after.indexOf('/');
  const index = after === null ? 0 : sealed.findIndex(({ collection }) => collection === after.slice(0, slash));
  const part = sealed[index];
  return part === undefined ? null : { part, next: sealed[index + 1], id: after === null ? '' : after.slice(slash + 1) };
};

/** Handles one page of documents by id: re-seals values that an older key has sealed. */
const sealPage =
  ({ database, seal, sealed, carriedMs }: SealsOptions) =>
  async ({ after, dry_run: dryRun }: { readonly after: string | null; readonly dry_run: boolean }): Promise<SealsPage> => {
    const position = positionOf(sealed, after);
    if (position === null) throw new DomainError('invalid', 'after: not a position that this service gave.');
    const { part, next, id } = position;
    const documents = database.collection<Doc>(part.collection);
    const projection = Object.fromEntries(part.fields.map((field) => [field, 1 as const]));
    const page = await documents.find({ _id: { $gt: id } }, { sort: { _id: 1 }, limit: DOCUMENTS_PER_PAGE, projection });
    const found = page.flatMap((doc) => foundIn(part, doc));
    const [newest = '', ...others] = seal.keyIds;
    const old = found.filter(({ value }) => seal.keyIdOf(value) !== newest);
    const again = old.map((one) => [one, resealed(seal, one)] as const);
    const readable = again.flatMap(([one, value]) => (value === null ? [] : [[one, value] as const]));
    const written = dryRun ? 0 : await writeBack(documents, part.lock, readable);
    const keysNow = found.map(({ value }) => seal.keyIdOf(value));
    const last = page.length < DOCUMENTS_PER_PAGE ? null : (page.at(-1)?._id ?? null);
    return {
      newest_key: newest,
      keys: [newest, ...others],
      sealed: counted(keysNow),
      resealed: written,
      unreadable: counted(again.flatMap(([{ place }, value]) => (value === null ? [place] : []))),
      next_after: last !== null ? `${part.collection}/${last}` : next === undefined ? null : `${next.collection}/`,
      carried_seconds: Math.ceil(carriedMs / 1000),
    };
  };

/** Operators' route that re-seals the stored values of a service with its newest key. */
export const sealsRoute = (options: SealsOptions): Route<AuthPorts> => {
  const page = sealPage(options);
  return route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/seals',
      operationId: `adminSeals${options.service.replaceAll(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase())}`,
      summary: 'Seal a page of what is stored again with the newest key, or count it',
      body: SealsRequest,
      answers: { 200: json(SealsPage) },
      audit: { body: ['dry_run'], answer: ['newest_key', 'resealed'] },
    },
    ({ body }) => page(body),
  );
};
