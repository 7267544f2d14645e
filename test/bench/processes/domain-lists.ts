import { createDomainLists } from '@bubbles/signup/adapters/domains/domain-lists.ts';
import { settings, tellParent } from '../harness/in-child.ts';

const { rounds } = settings<{ readonly rounds: number }>();
const LOOKUPS = 20_000;
const NAMES = [
  'acme.example',
  'mail.acme.co.uk',
  'gmail.com',
  'sub.mailinator.com',
  'yopmail.fr',
  'somebody.github.io',
  'yahoo.co.nz',
  'a.b.c.d.e.example',
];

const weight = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const empty: ReadonlySet<string> = new Set();
const lists = createDomainLists({ allowed: empty, denied: empty, company: empty, consumer: empty });
const before = weight();
const began = performance.now();
lists.companyDomain('acme.example');
const loadMs = performance.now() - began;
const megabytes = (weight() - before) / 1e6;

const microseconds: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const start = performance.now();
  for (let n = 0; n < LOOKUPS; n += 1) {
    const name = NAMES[n % NAMES.length] ?? '';
    lists.refusalOf(name);
    lists.companyDomain(name);
  }
  microseconds.push(((performance.now() - start) * 1000) / LOOKUPS);
}
tellParent({ megabytes, loadMs, microseconds });
