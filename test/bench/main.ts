import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { endChildren, profileChildren } from './harness/children.ts';
import { type Part, report } from './harness/part.ts';

const PARTS: Readonly<Record<string, () => Promise<Part>>> = {
  'read-path': async () => (await import('./parts/read-path.ts')).readPath,
  'access-tokens': async () => (await import('./parts/access-tokens.ts')).accessTokens,
  oauth: async () => (await import('./parts/oauth.ts')).oauth,
  'list-growth': async () => (await import('./parts/list-growth.ts')).listGrowth,
  sandbox: async () => (await import('./parts/sandbox.ts')).sandboxPart,
  gateway: async () => (await import('./parts/gateway.ts')).gatewayPart,
  search: async () => (await import('./parts/search.ts')).searchPart,
  webhooks: async () => (await import('./parts/webhooks.ts')).webhooks,
  'deliveries-wire': async () => (await import('./parts/deliveries-wire.ts')).deliveriesWire,
  observed: async () => (await import('./parts/observed.ts')).observed,
  meetings: async () => (await import('./parts/meetings.ts')).meetings,
  signup: async () => (await import('./parts/signup.ts')).signup,
  'open-loop': async () => (await import('./parts/open-loop.ts')).openLoop,
  fairness: async () => (await import('./parts/fairness.ts')).fairness,
  stack: async () => (await import('./parts/stack.ts')).stackPart,
  endurance: async () => (await import('./parts/endurance.ts')).endurance,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(2);
}

const RESULTS = new URL('./results/', import.meta.url);
mkdirSync(RESULTS, { recursive: true });
if (values.profile) profileChildren(new URL('profiles', RESULTS).pathname);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    endChildren();
    process.exit(1);
  });

for (const name of names) {
  const began = performance.now();
  const part = await PARTS[name]?.();
  if (part === undefined) continue;
  const outcome = await part(values);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  process.stdout.write(`${report(name, outcome)}\n\n${seconds} s\n`);
  writeFileSync(new URL(`${name}.json`, RESULTS), `${JSON.stringify({ part: name, ...values, seconds, ...outcome }, null, 2)}\n`);
}
process.exit(0);
