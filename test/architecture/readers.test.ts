import { join } from 'node:path';
import * as fields from '@bubbles/contracts/api/fields.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { everyService } from '../support/services.ts';
import { allSources, packageOf, places, productSources, ROOT, type Source } from './sources.ts';
import { importsOf } from './syntax.ts';

const isSchema = (value: unknown): value is z.ZodType => value instanceof z.ZodType;

/** The schemas that a value is made of, whatever lists, objects and schemas they stand in. */
const schemasIn = (value: unknown, found = new Set<z.ZodType>()): ReadonlySet<z.ZodType> => {
  if (typeof value !== 'object' || value === null || (isSchema(value) && found.has(value))) return found;
  if (isSchema(value)) found.add(value);
  const inner: unknown = isSchema(value) ? value.def : value;
  if (isSchema(value) || Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const part of Object.values(Object(inner))) schemasIn(part, found);
  return found;
};
const shared = (left: ReadonlySet<z.ZodType>, right: ReadonlySet<z.ZodType>) => [...left.intersection(right)];

const services = everyService();
const answered = services.flatMap(({ name, routes }) =>
  routes.flatMap(({ spec }) => Object.values(spec.answers).map(({ schema }) => ({ name, schemas: schemasIn(schema) }))),
);
/** What a service answers with itself, and the forms of single fields, move nobody else. */
const ownOf = (service: string) =>
  answered.filter(({ name }) => name === service).reduce((own, { schemas }) => own.union(schemas), schemasIn({ ...fields }));
const published = schemasIn(EVENTS.map(({ schema }) => schema));

describe('a consumer reads events', () => {
  it('with schemas in which a part of the published ones is noticed', () => {
    const Published = z.object({ id: z.string(), person: z.object({ name: z.string() }).nullable() });
    expect(shared(schemasIn(Published.pick({ id: true })), schemasIn([{ schema: Published }]))).toHaveLength(1);
    expect(shared(schemasIn(z.array(Published.shape.person)), schemasIn(Published))).toHaveLength(3);
    expect(shared(schemasIn(z.object({ id: z.string() })), schemasIn(Published))).toEqual([]);
  });

  it.each(services.flatMap(({ name, eventHandlers }) => eventHandlers.map(({ event }) => ({ name, type: event.type, event }))))(
    '$name reads $type with a schema of its own',
    ({ name, event }) => {
      const read = schemasIn(event.schema).difference(ownOf(name));
      expect(shared(read, published).map(({ def }) => def.type)).toEqual([]);
    },
  );
});

const CONTRACTS = '@bubbles/contracts/';
const isObject = ({ def }: z.ZodType): boolean => def.type === 'object';

/** Objects of answers, by the services that answer with them. */
const answerers = new Map<z.ZodType, Set<string>>();
for (const { name, schemas } of answered)
  for (const schema of schemas) if (isObject(schema)) answerers.set(schema, (answerers.get(schema) ?? new Set()).add(name));

const exportOf = async (from: string, name: string): Promise<unknown> => {
  const module: Record<string, unknown> = await import(join(ROOT, 'contracts/src', from.slice(CONTRACTS.length)));
  return module[name];
};

/** The names that a source imports to read what another service answers. Types and events are its to use. */
const answersOfOthersIn = async (source: Source): Promise<readonly string[]> => {
  const imported = importsOf(source).filter(
    ({ from, typeOnly }) => from.startsWith(CONTRACTS) && !from.includes('/events/') && !from.endsWith('/services.ts') && !typeOnly,
  );
  const own = packageOf(source).replace('services/', '');
  const values = await Promise.all(imported.map(async ({ from, name }) => ({ name, schemas: schemasIn(await exportOf(from, name)) })));
  return values
    .filter(({ schemas }) => [...schemas].some((schema) => answerers.has(schema) && answerers.get(schema)?.has(own) === false))
    .map(({ name }) => `${source.path}: ${name}`);
};

/** Where services, the gateway and operators ask others. Routes write what others read, and the sandbox asks services of its own release alone. */
const consumers = productSources().filter(
  ({ path }) => /^(services|shared\/(auth|http)|deploy\/admin)\//.test(path) && !path.includes('/adapters/http/'),
);

describe('a consumer reads answers', () => {
  it('with schemas among which those of another service are noticed', async () => {
    const importing = (path: string, what: string, from: string) => ({ path, text: `import { ${what} } from '${CONTRACTS}${from}';` });
    const [access, calls] = ['internal/identity.ts', 'internal/identity-signup.ts'];
    expect(await answersOfOthersIn(importing('services/signup/src/a.ts', 'UserAccess', access))).toEqual([
      'services/signup/src/a.ts: UserAccess',
    ]);
    expect(await answersOfOthersIn(importing('services/signup/src/a.ts', 'SIGNUP_CALLS', calls))).toHaveLength(1);
    expect(await answersOfOthersIn(importing('shared/auth/src/a.ts', 'AssertionKeySet', access))).toHaveLength(1);
    expect(await answersOfOthersIn(importing('services/identity-and-oauth/src/a.ts', 'UserAccess', access))).toEqual([]);
    expect(await answersOfOthersIn(importing('services/signup/src/a.ts', 'type UserAccess', access))).toEqual([]);
    expect(await answersOfOthersIn(importing('deploy/admin/src/a.ts', 'CreateTeam', access))).toEqual([]);
  });

  it('with schemas of its own', async () => {
    const borrowed = await Promise.all(consumers.map(answersOfOthersIn));
    expect(borrowed.flat()).toEqual([]);
  });

  it('and so do the tests that write its pact', () => {
    const writing = allSources().filter(({ path }) => path.startsWith('test/contract/consumers/'));
    expect(writing.length).toBeGreaterThan(0);
    expect(places(writing, /^import \{.*contracts\/(internal|api\/(?!examples))|V1\.schema\b/)).toEqual([]);
  });
});
