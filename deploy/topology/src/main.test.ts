import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const MAIN = join(import.meta.dirname, 'main.ts');

/** Nobody listens there; a port that was given free may be given to somebody else meanwhile. */
const NOBODY = '127.0.0.1:1';

describe('the topology job', () => {
  it('ends with one line that names the broker when that is out of reach', () => {
    const env = { AMQP_URL: `amqp://user:hunter2@${NOBODY}` };
    const { status, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
    expect(stderr).toBe(`topology: the broker at ${NOBODY} is out of reach: ECONNREFUSED\n`);
    expect(status).toBe(2);
  });
});
