import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { newSecret } from '../src/domain/ids.ts';
import { signature } from '../src/domain/webhook-request.ts';

const guide = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
/** The block that begins so. */
const codeOf = (language: string, start = ''): string =>
  new RegExp(`\`\`\`${language}\\n(${start}[\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';

const secret = newSecret({ bytes: () => Buffer.alloc(32, 9) });
const body = '{"id":"evt_1","note":"café 🎈"}';
const now = new Date();
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

/** What a verifier says of a good delivery, one that was changed on the way, and ones that are too old or from too far ahead. */
const other = newSecret({ bytes: () => Buffer.alloc(32, 10) });
const DELIVERIES = [
  { header: signature([secret], Buffer.from(body), now), body, good: true },
  { header: signature([secret], Buffer.from(body), now), body: `${body} `, good: false },
  { header: signature([secret], Buffer.from(body), minutesAgo(6)), body, good: false },
  { header: signature([secret], Buffer.from(body), minutesAgo(-6)), body, good: false },
  { header: signature([other, secret], Buffer.from(body), now), body, good: true },
  { header: signature([secret, other], Buffer.from(body), now), body, good: true },
  { header: signature([other, other], Buffer.from(body), now), body, good: false },
  { header: '', body, good: false },
];

const run = (program: string, file: string, source: string): unknown => {
  const folder = mkdtempSync(join(tmpdir(), 'guide-'));
  try {
    writeFileSync(join(folder, file), source);
    const { stdout, stderr, status } = spawnSync(program, [join(folder, file)], {
      input: JSON.stringify({ secret, deliveries: DELIVERIES }),
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

describe('the receiver’s guide', () => {
  it('[DLV-03] verifies our deliveries with its JavaScript', () => {
    const calls = `
import { readFileSync } from 'node:fs';
const { secret, deliveries } = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(deliveries.map(({ header, body }) => verify(secret, header, Buffer.from(body)))));`;
    expect(run(process.execPath, 'verify.mjs', codeOf('js', '// verify.mjs') + calls)).toEqual(DELIVERIES.map(({ good }) => good));
  });

  it('[DLV-03] verifies our deliveries with the stripe library and the line beside it', () => {
    const calls = `
import { readFileSync } from 'node:fs';
import Stripe from '${import.meta.resolve('stripe')}';
const stripe = new Stripe('sk_test_unused');
const { secret, deliveries } = JSON.parse(readFileSync(0, 'utf8'));
const good = (header, rawBody) => {
  try {
    ${codeOf('js', 'const event = stripe')}
    return event.id !== undefined;
  } catch {
    return false;
  }
};
console.log(JSON.stringify(deliveries.map(({ header, body }) => good(header, Buffer.from(body)))));`;
    expect(run(process.execPath, 'verify.mjs', calls)).toEqual(DELIVERIES.map(({ good }) => good));
  });

  it('[DLV-03] verifies our deliveries with its Python', () => {
    const calls = `
import json, sys
given = json.load(sys.stdin)
print(json.dumps([verify(given["secret"], one["header"], one["body"].encode()) for one in given["deliveries"]]))`;
    expect(run('python3', 'verify.py', codeOf('python') + calls)).toEqual(DELIVERIES.map(({ good }) => good));
  });
});
