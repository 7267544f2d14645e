/** The layers of a service and the borders between packages. `test/architecture/layers.test.ts` proves that each rule bites. */
const PRODUCT = '^((services|shared|deploy)/[^/]+|contracts)/src/';
const TESTS = '[.]test[.]ts$|^shared/testing/|[.]contract[.]ts$';

/** What use cases, ports and app may know beside their own domain and ports. */
const KERNEL = '^shared/kernel/src/(errors|log|clock|ids|cursors|loop|concurrency)[.]ts$|^contracts/src/access[.]ts$';
/** Known by their types alone: what is behind them is an adapter's. */
const TYPES_ALONE = '^shared/(store/src/(aggregates|work/work-queue)|bus/src/outgoing|kernel/src/seal)[.]ts$|^node_modules/zod/';
/** The one rule of what an e-mail address is; it only computes. */
const MAIL_ADDRESS = '^shared/mail/src/address[.]ts$';
/** Judges the addresses that callers name. Its first stage only computes. */
const ADDRESS_GUARD = '^shared/address-guard/src/';
const ADDRESS_GUARD_RULES = `${ADDRESS_GUARD}(destination-url|public-address)[.]ts$`;
/** The part of Node that computes: hashes, addresses, comparison. Its randomness is refused by words.test.ts. */
const PURE_NODE = '^(node:)?(crypto|net|util|url|buffer)$';
const CONCURRENCY = '^shared/kernel/src/concurrency[.]ts$';
const THREADS = '^(node:)?(worker_threads|timers/promises)$';

/** Folders from below: none knows one that stands after it, nor one beside it. */
const GATEWAY_LAYERS = [
  ['messages'],
  ['documents', 'balancing'],
  ['exchange'],
  ['upstream'],
  ['admission', 'fragments', 'pages'],
  ['pipeline'],
];
const HTTP_LAYERS = [['wire'], ['ops'], ['routes'], ['client', 'document']];
const layersOf = (name, root, layers) =>
  layers.map((folders, index) => ({
    name: `${name}-${folders.join('-')}`,
    from: { path: `^${root}/src/(${folders.join('|')})/`, pathNot: TESTS },
    to: { path: `^${root}/src/`, pathNot: `^${root}/src/(${['$1', ...layers.slice(0, index).flat()].join('|')})/` },
  }));

const forbidden = [
  { name: 'no-cycles', from: {}, to: { circular: true } },
  ...layersOf('gateway', 'services/gateway', GATEWAY_LAYERS),
  ...layersOf('http', 'shared/http', HTTP_LAYERS),
  {
    name: 'bus-port-is-alone',
    comment: 'The port and the CloudEvents know no engine.',
    from: { path: '^shared/bus/src/[^/]+$', pathNot: TESTS },
    to: { path: '^shared/bus/src/[^/]+/' },
  },
  {
    name: 'bus-engines-apart',
    comment:
      'The engine in memory and the operations know no other folder; amqp takes the names of queues and headers from the operations.',
    from: { path: '^shared/bus/src/(memory|operations)/', pathNot: TESTS },
    to: { path: '^shared/bus/src/[^/]+/', pathNot: '^shared/bus/src/$1/' },
  },
  {
    name: 'no-embedded-engine-in-production',
    comment: 'The engine of the sandbox and of tests, by whatever way.',
    from: { path: '^(services/[^/]+|deploy/(admin|topology|migration))/src/main[.]ts$' },
    to: { path: '^shared/store-embedded/', reachable: true },
  },
  {
    name: 'gateway-rules-are-pure',
    from: { path: '^services/gateway/src/(messages|documents|balancing)/', pathNot: TESTS },
    to: {
      pathNot: [
        '^services/gateway/src/',
        '^shared/kernel/src/errors[.]ts$',
        '^contracts/src/(access|services)[.]ts$',
        '^shared/http/src/(wire|routes)/',
        PURE_NODE,
      ],
    },
  },
  { name: 'resolvable', from: {}, to: { couldNotResolve: true } },
  {
    name: 'declared-packages',
    comment: 'Product code imports only what its own package.json lists under dependencies.',
    from: { path: PRODUCT, pathNot: TESTS },
    to: { dependencyTypes: ['npm-dev', 'npm-optional', 'npm-no-pkg', 'npm-unknown', 'npm-bundled'] },
  },
  {
    name: 'domain-is-pure',
    from: { path: '^services/([^/]+)/src/domain/', pathNot: TESTS },
    to: {
      pathNot: ['^services/$1/src/domain/', '^shared/kernel/src/errors[.]ts$', '^contracts/src/access[.]ts$', MAIL_ADDRESS, PURE_NODE],
    },
  },
  {
    name: 'search-knows-ports',
    comment: 'A search engine knows the rules, the ports and threads, nothing of stores and routes.',
    from: { path: '^services/([^/]+)/src/search/', pathNot: TESTS },
    to: { pathNot: ['^services/$1/src/(domain/|search/|[a-z-]*ports[.]ts$)', KERNEL, CONCURRENCY, PURE_NODE, THREADS] },
  },
  {
    name: 'search-behind-its-port',
    comment: 'Only the composition root knows the search engine.',
    from: { path: '^services/([^/]+)/src/', pathNot: ['^services/[^/]+/src/(search/|service[.]ts$)', TESTS] },
    to: { path: '^services/$1/src/search/' },
  },
  {
    name: 'use-cases-know-ports',
    from: { path: '^services/([^/]+)/src/(use-cases/|[a-z-]*ports[.]ts$)', pathNot: TESTS },
    to: {
      pathNot: [
        '^services/$1/src/(domain/|use-cases/|[a-z-]*ports[.]ts$)',
        KERNEL,
        TYPES_ALONE,
        ADDRESS_GUARD_RULES,
        MAIL_ADDRESS,
        PURE_NODE,
      ],
    },
  },
  {
    name: 'loops-know-ports',
    comment: 'A scheduler stands beside the use cases: neither imports the other, what it runs is a port.',
    from: { path: '^services/([^/]+)/src/[^/]+-loop/', pathNot: TESTS },
    to: { pathNot: ['^services/$1/src/(domain/|[^/]+-loop/|[a-z-]*ports[.]ts$)', KERNEL, TYPES_ALONE] },
  },
  {
    name: 'app-knows-use-cases',
    from: { path: '^services/([^/]+)/src/app[.]ts$' },
    to: {
      pathNot: ['^services/$1/src/(domain/|use-cases/|[^/]+-loop/|[a-z-]*ports[.]ts$)', KERNEL, TYPES_ALONE, ADDRESS_GUARD_RULES],
    },
  },
  {
    name: 'address-guard-stands-alone',
    from: { path: ADDRESS_GUARD, pathNot: TESTS },
    to: {
      pathNot: [
        ADDRESS_GUARD,
        '^shared/kernel/src/(errors|concurrency)[.]ts$',
        '^(node:)?(net|dns|tls|timers/promises)$',
        '^node_modules/undici/',
      ],
    },
  },
  {
    name: 'types-alone',
    from: { path: '^services/([^/]+)/src/(use-cases/|[^/]+-loop/|([a-z-]*ports|app)[.]ts$)', pathNot: TESTS },
    to: { path: TYPES_ALONE, dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'adapters-apart',
    comment: 'One adapter folder never imports another; what it is handed it may name the type of.',
    from: { path: '^services/([^/]+)/src/adapters/([^/]+)/', pathNot: TESTS },
    to: { path: '^services/$1/src/adapters/', pathNot: '^services/$1/src/adapters/$2/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'events-in-bus-adapters',
    comment: 'An event is written and read in adapters/bus alone; the host finds the ones that a service publishes in the catalog.',
    from: { path: '^services/[^/]+/src/', pathNot: ['^services/[^/]+/src/adapters/bus/', TESTS] },
    to: { path: '^contracts/src/events/' },
  },
  {
    name: 'adapters-inward',
    comment: 'Only the composition root knows adapters, and nobody inside knows the root.',
    from: { path: '^services/([^/]+)/src/adapters/', pathNot: TESTS },
    to: { path: '^services/$1/src/(main|service)[.]ts$' },
  },
  {
    name: 'services-apart',
    from: { path: '^services/([^/]+)/' },
    to: { path: '^(services|deploy|test)/', pathNot: '^services/$1/' },
  },
  {
    name: 'shared-has-no-business',
    from: { path: '^shared/' },
    to: { path: '^(services|deploy|test)/' },
  },
  {
    name: 'mechanisms-without-contracts',
    comment: 'The published language is bound to mechanisms in auth and host alone.',
    from: { path: '^shared/', pathNot: ['^shared/(auth|host)/', TESTS] },
    to: { path: '^contracts/' },
  },
  {
    name: 'contracts-on-zod-alone',
    from: { path: '^contracts/src/', pathNot: TESTS },
    to: { pathNot: ['^contracts/src/', '^node_modules/zod/'] },
  },
  {
    name: 'product-without-tests',
    from: { path: PRODUCT, pathNot: TESTS },
    to: { path: `(^|/)test/|${TESTS}` },
  },
  {
    name: 'main-is-the-end',
    from: { path: PRODUCT },
    to: { path: '/src/main[.]ts$' },
  },
  {
    name: 'no-orphans',
    from: { orphan: true, pathNot: ['/src/main[.]ts$', '[.]test[.]ts$', '[.](cjs|mjs|json)$'] },
    to: {},
  },
];

module.exports = {
  forbidden: forbidden.map((rule) => ({ severity: 'error', ...rule })),
  options: {
    doNotFollow: { path: 'node_modules' },
    // What has a lock of its own is not installed with the rest.
    exclude: { path: '(^|/)(test/bench|deploy/observability/tracing|coverage)/' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.cjs', '.js', '.json'],
    },
  },
};
