import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { cruise } from './cruise.ts';
import { productSources, ROOT, type Source } from './sources.ts';
import { importsOf } from './syntax.ts';

const rules: readonly { readonly name: string }[] = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')).forbidden;

/** One file a rule, each breaking it and no more than need be. */
const BREACHES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no-cycles': {
    'services/a/src/domain/egg.ts': "import './hen.ts';",
    'services/a/src/domain/hen.ts': "import './egg.ts';",
  },
  'gateway-messages': { 'services/gateway/src/messages/high.ts': "import '../exchange/open.ts';" },
  'gateway-documents-balancing': { 'services/gateway/src/documents/aside.ts': "import '../balancing/queue.ts';" },
  'gateway-exchange': { 'services/gateway/src/exchange/high.ts': "import '../upstream/address.ts';" },
  'gateway-upstream': { 'services/gateway/src/upstream/high.ts': "import '../admission/admit.ts';" },
  'gateway-admission-fragments-pages': { 'services/gateway/src/pages/aside.ts': "import '../admission/admit.ts';" },
  'gateway-pipeline': { 'services/gateway/src/pipeline/root.ts': "import '../gateway.ts';" },
  'http-wire': { 'shared/http/src/wire/high.ts': "import '../routes/route.ts';" },
  'http-ops': { 'shared/http/src/ops/high.ts': "import '../routes/route.ts';" },
  'http-routes': { 'shared/http/src/routes/high.ts': "import '../document/openapi.ts';" },
  'http-client-document': { 'shared/http/src/client/aside.ts': "import '../document/openapi.ts';" },
  'gateway-rules-are-pure': { 'services/gateway/src/balancing/logged.ts': "import type { Log } from '@bubbles/kernel/log.ts';" },
  'no-embedded-engine-in-production': {
    'services/e/src/main.ts': "import './service.ts';",
    'services/e/src/service.ts': "import '../../../shared/store-embedded/src/open.ts';",
  },
  resolvable: { 'services/a/src/domain/lost.ts': "import './nowhere.ts';" },
  'declared-packages': { 'services/a/src/adapters/http/undeclared.ts': "import 'koa';" },
  'domain-is-pure': { 'services/a/src/domain/impure.ts': "import type { Log } from '@bubbles/kernel/log.ts';" },
  'search-knows-ports': { 'services/a/src/search/stored.ts': "import type { store } from '@bubbles/store/aggregates.ts';" },
  'search-behind-its-port': { 'services/a/src/use-cases/engine.ts': "import '../search/lawful.ts';" },
  'use-cases-know-ports': { 'services/a/src/use-cases/direct.ts': "import '../adapters/http/routes.ts';" },
  'loops-know-ports': { 'services/a/src/work-loop/run.ts': "import '../use-cases/direct.ts';" },
  'address-guard-stands-alone': { 'shared/address-guard/src/bound.ts': "import '@bubbles/kernel/log.ts';" },
  'app-knows-use-cases': { 'services/a/src/app.ts': "import './adapters/http/routes.ts';" },
  'types-alone': { 'services/a/src/use-cases/stored.ts': "import '@bubbles/store/aggregates.ts';" },
  'bus-port-is-alone': { 'shared/bus/src/port.ts': "import './amqp/engine.ts';" },
  'bus-engines-apart': { 'shared/bus/src/memory/engine.ts': "import '../amqp/engine.ts';" },
  'adapters-apart': { 'services/a/src/adapters/bus/event-handlers.ts': "import '../http/routes.ts';" },
  'events-in-bus-adapters': {
    'services/a/src/adapters/store/wired.ts': "import type { event } from '@bubbles/contracts/events/event.ts';",
  },
  'adapters-inward': { 'services/a/src/adapters/http/outward.ts': "import '../../service.ts';" },
  'services-apart': { 'services/a/src/adapters/http/neighbour.ts': "import '@bubbles/b/domain/thing.ts';" },
  'shared-has-no-business': { 'shared/kernel/src/business.ts': "import '@bubbles/b/domain/thing.ts';" },
  'mechanisms-without-contracts': { 'shared/kernel/src/contract.ts': "import '@bubbles/contracts/events/event.ts';" },
  'contracts-on-zod-alone': { 'contracts/src/events/tied.ts': "import '@bubbles/kernel/errors.ts';" },
  'product-without-tests': { 'services/a/src/adapters/http/tested.ts': "import '../../../test/builders.ts';" },
  'main-is-the-end': { 'services/a/src/service.ts': "import './main.ts';" },
  'no-orphans': { 'services/a/src/domain/alone.ts': 'export const alone = 1;' },
};

const WORLD: Readonly<Record<string, string>> = {
  'services/gateway/src/exchange/open.ts': 'export const open = 1;',
  'services/a/package.json': '{ "name": "@bubbles/a", "type": "module" }',
  'shared/http/src/routes/route.ts': 'export const route = 1;',
  'shared/http/src/document/openapi.ts': 'export const openapi = 1;',
  'services/gateway/package.json': '{ "name": "@bubbles/gateway", "type": "module" }',
  'services/gateway/src/gateway.ts': 'export const gateway = 1;',
  'services/gateway/src/messages/head.ts': 'export const head = 1;',
  'services/gateway/src/balancing/queue.ts': 'export const queue = 1;',
  'services/gateway/src/upstream/address.ts': 'export const address = 1;',
  'services/gateway/src/admission/admit.ts': 'export const admit = 1;',
  'services/b/package.json': '{ "name": "@bubbles/b", "type": "module", "exports": { "./*.ts": "./src/*.ts" } }',
  'services/b/src/domain/thing.ts': 'export const thing = 1;',
  'services/a/src/adapters/http/routes.ts': 'export const routes = 1;',
  'services/a/src/domain/thing.ts': 'export const thing = 1;',
  'services/a/src/main.ts': 'export const main = 1;',
  'services/a/test/builders.ts': 'export const builder = 1;',
  'shared/kernel/package.json': '{ "name": "@bubbles/kernel", "type": "module", "exports": { "./*.ts": "./src/*.ts" } }',
  'shared/bus/src/amqp/engine.ts': 'export const engine = 1;',
  'shared/kernel/src/log.ts': 'export interface Log {}',
  'shared/kernel/src/errors.ts': 'export const errors = 1;',
  'shared/store/package.json': '{ "name": "@bubbles/store", "type": "module", "exports": { "./*.ts": "./src/*.ts" } }',
  'shared/store/src/aggregates.ts': 'export const store = 1;',
  'shared/store-embedded/src/open.ts': 'export const open = 1;',
  'contracts/package.json': '{ "name": "@bubbles/contracts", "type": "module", "exports": { "./*.ts": "./src/*.ts" } }',
  'contracts/src/events/event.ts': 'export const event = 1;',
};

/** What the rules must let through. */
const LAWFUL: Readonly<Record<string, string>> = {
  'services/a/src/domain/lawful.ts': "import '@bubbles/kernel/errors.ts'; import 'node:crypto';",
  'services/a/src/use-cases/lawful.ts':
    "import type { Log } from '@bubbles/kernel/log.ts'; import type { store } from '@bubbles/store/aggregates.ts'; import '../domain/lawful.ts'; import '@bubbles/address-guard/destination-url.ts';",
  'shared/address-guard/package.json': '{ "name": "@bubbles/address-guard", "type": "module", "exports": { "./*.ts": "./src/*.ts" } }',
  'shared/address-guard/src/destination-url.ts': "import 'node:net'; import '@bubbles/kernel/errors.ts';",
  'services/a/src/work-loop/lawful.ts': "import '../domain/lawful.ts'; import '@bubbles/kernel/errors.ts';",
  'services/gateway/src/pipeline/lawful.ts': "import '../admission/admit.ts'; import '../messages/head.ts';",
  'services/a/src/adapters/bus/lawful.ts': "import '@bubbles/contracts/events/event.ts';",
  'services/a/src/search/lawful.ts': "import '../domain/lawful.ts'; import 'node:worker_threads';",
  'services/a/src/domain/lawful.test.ts': "import '../../test/builders.ts'; import './lawful.ts';",
};

describe('the layer rules', () => {
  const world = mkdtempSync(join(tmpdir(), 'layers-'));
  afterAll(() => rmSync(world, { recursive: true }));

  const put = (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(world, path)), { recursive: true });
      writeFileSync(join(world, path), text);
    }
  };
  mkdirSync(join(world, 'node_modules/@bubbles'), { recursive: true });
  for (const folder of ['services/a', 'services/b', 'shared/address-guard', 'shared/kernel', 'shared/store', 'contracts'])
    symlinkSync(join(world, folder), join(world, 'node_modules/@bubbles', basename(folder)));
  symlinkSync(join(ROOT, 'node_modules/koa'), join(world, 'node_modules/koa'));

  put(WORLD);
  put(LAWFUL);
  for (const files of Object.values(BREACHES)) put(files);
  const { violations } = cruise(world, ['services', 'shared', 'contracts']);

  it('are each broken by a file below', () => {
    expect(rules.map(({ name }) => name).sort()).toEqual(Object.keys(BREACHES).sort());
  });

  it.each(Object.entries(BREACHES))('%s is noticed', (rule, files) => {
    const [first = ''] = Object.keys(files);
    const noticed = violations.filter(({ rule: { name } }) => name === rule).map(({ from }) => from);
    expect(noticed).toContain(first);
  });

  it('let the lawful through', () => {
    expect(violations.filter(({ from }) => from in LAWFUL)).toEqual([]);
  });
});

describe('the product', () => {
  const { totalCruised, violations } = cruise(ROOT, ['services', 'shared', 'contracts', 'deploy', 'test']);

  it('is seen whole', () => {
    // Without a parser for TypeScript the cruiser finds nothing and is content.
    expect(totalCruised).toBeGreaterThanOrEqual(productSources().length);
    expect(totalCruised).toBeGreaterThan(0);
  });

  it('keeps to its layers', () => {
    expect(violations.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });
});

describe('a use case', () => {
  const serviceOf = ({ path }: Source) => /^services\/[^/]+/.exec(path)?.[0] ?? '';

  /** The use cases are what app.ts takes from its folder; the other functions there are pieces that they share. */
  const callsBetween = (sources: readonly Source[]): readonly string[] => {
    const useCases = new Set(
      sources
        .filter(({ path }) => path.endsWith('/src/app.ts'))
        .flatMap((app) =>
          importsOf(app)
            .filter(({ from, typeOnly }) => from.startsWith('./use-cases/') && !typeOnly)
            .map(({ name }) => `${serviceOf(app)} ${name}`),
        ),
    );
    return sources
      .filter(({ path }) => path.includes('/src/use-cases/'))
      .flatMap((source) =>
        importsOf(source)
          .filter(({ from, name, typeOnly }) => from.startsWith('./') && !typeOnly && useCases.has(`${serviceOf(source)} ${name}`))
          .map(({ name }) => `${source.path} → ${name}`),
      );
  };

  it('is noticed when it calls another', () => {
    const found = callsBetween([
      {
        path: 'services/a/src/app.ts',
        text: "import { join, type Joined } from './use-cases/join.ts'; import { leave } from './use-cases/leave.ts';",
      },
      { path: 'services/a/src/use-cases/leave.ts', text: "import { join, piece, type Joined } from './join.ts';" },
    ]);
    expect(found).toEqual(['services/a/src/use-cases/leave.ts → join']);
  });

  it('calls no other', () => {
    expect(callsBetween(productSources())).toEqual([]);
  });
});
