import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SCOPES } from '@bubbles/contracts/access.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { GATEWAY, SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import { describe, expect, it } from '@jest/globals';
import { PRODUCT } from '../../deploy/services/src/product.ts';
import { everyService } from '../support/services.ts';
import { packageOf, productSources, ROOT } from './sources.ts';
import { importsOf, keysReturnedBy } from './syntax.ts';

const services = everyService();
const table: ServiceTable = SERVICES;
const product = productSources();
const eventFiles = readdirSync(join(ROOT, 'contracts/src/events')).filter((name) => name.endsWith('-events.ts'));
const eventModules = await Promise.all(eventFiles.map((name) => import(join(ROOT, 'contracts/src/events', name))));
const names = new Map(
  eventModules.flatMap((exported) => Object.entries<{ type: string }>(exported)).map(([name, { type }]) => [type, name]),
);
/** Publishes from outside of the product. */
const OUTSIDE = 'recording-pipeline';

describe('events', () => {
  it('are all in the catalog', () => {
    expect(EVENTS.map(({ type }) => type).sort()).toEqual([...names.keys()].sort());
  });

  it.each(EVENTS.filter(({ publisher }) => publisher !== OUTSIDE))('$type is published by $publisher', ({ type, publisher }) => {
    const users = product.filter((source) => packageOf(source) === `services/${publisher}`).flatMap(importsOf);
    expect(users.some(({ name, typeOnly }) => name === names.get(type) && !typeOnly)).toBe(true);
  });

  it.each(EVENTS)('$type is consumed by each of its consumers, and by nobody else', ({ type, consumers }) => {
    const consuming = services.filter(({ eventHandlers }) => eventHandlers.some(({ event }) => event.type === type));
    expect(consuming.map(({ name }) => name).sort()).toEqual([...consumers].sort());
  });
});

describe('use cases', () => {
  it('are those of the parts too that an app is made of', () => {
    const text = 'const part = (ports) => ({ b: b(ports) });\nexport const createApp = (ports) => ({ a: a(ports), ...part(ports) });';
    expect(keysReturnedBy({ path: 'app.ts', text }, 'createApp')).toEqual(['a', 'b']);
  });

  const apps = product.filter(({ path }) => path.endsWith('/src/app.ts'));

  it.each(apps)('of $path are each reached from a route, a consumer or a job', (app) => {
    const parts = [...app.text.matchAll(/^const (\w+UseCases) =/gm)].map(([, name = '']) => name);
    const useCases = ['createApp', ...parts].flatMap((name) => keysReturnedBy(app, name));
    const around = product.filter(
      ({ path }) => packageOf(app) === packageOf({ path, text: '' }) && /\/src\/(adapters\/|service\.ts)/.test(path),
    );
    const text = around.map((source) => source.text).join('\n');
    expect(useCases.length).toBeGreaterThan(0);
    expect(useCases.filter((name) => !new RegExp(String.raw`\bapp\.${name}\b|\{[^}]*\b${name}\b[^}]*\}: App\b`).test(text))).toEqual([]);
  });
});

const askers = (callee: string): readonly string[] =>
  PRODUCT.definitions.filter(({ asks }) => asks.some((asked) => asked === callee)).map(({ name }) => name);

describe('routes', () => {
  const specs = services.flatMap(({ routes }) => routes.map(({ spec }) => spec));

  it('need scopes that contracts list', () => {
    const scopes = specs.flatMap(({ guard }) => guard.security.flatMap((scheme) => Object.values(scheme).flat()));
    expect(scopes).toContain('bubbles:read');
    expect(scopes.filter((scope) => !(String(scope) in SCOPES))).toEqual([]);
  });

  it('have each an operation id of their own', () => {
    const ids = specs.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('below /internal/ take a service token, and no other', () => {
    const misplaced = specs.filter(({ path, guard }) => path.startsWith('/internal/') !== (guard.callers !== null));
    expect(misplaced.map(({ path }) => path)).toEqual([]);
  });

  it.each(services)('of $name admit the callers that contracts name, and nobody else', ({ name, routes }) => {
    const guards = routes.flatMap(({ spec: { guard } }) => (guard.callers === null ? [] : [guard.callers]));
    // The gateway fetches the document of each service; who asks for a user calls public routes.
    const admitted = [...new Set([GATEWAY, ...askers(name), ...guards.flat()])].toSorted();
    const named = [...(table[name]?.callers ?? [])].toSorted();
    // One that admits whoever is named says no names.
    expect(guards.some((callers) => callers.length === 0) ? named : admitted).toEqual(named);
    expect(named).toEqual(expect.arrayContaining(admitted));
  });
});

describe('services', () => {
  it.each(PRODUCT.definitions)('$name is asked by those that contracts name as its callers', ({ name }) => {
    const running = PRODUCT.definitions.map((definition) => definition.name);
    expect(askers(name).toSorted()).toEqual((table[name]?.callers ?? []).filter((caller) => running.includes(caller)).toSorted());
  });
});
