import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aMail, uncut } from '../test/sending.ts';
import { createMailFiles } from './mail-files.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'mails-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const files = (folder = join(home, 'mail')) => createMailFiles({ folder, clock: fakeClock(), ids: fakeIds() });

describe('mails as files', () => {
  it('makes the folder and writes each mail, for its owner alone', async () => {
    const { id: _, ...mail } = aMail();
    await files().deliver(aMail(), uncut);
    const [name = ''] = readdirSync(join(home, 'mail'));
    const path = join(home, 'mail', name);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ ...mail, sent_at: '2026-01-01T00:00:00.000Z' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('writes one file for a mail that comes twice, and one for each other id, whatever is in it', async () => {
    const transport = files();
    for (const id of ['mail-1', 'mail-1', '../../outside', '/etc/passwd', 'a\0b', 'x'.repeat(10_000)])
      await transport.deliver(aMail({ id }), uncut);
    expect(readdirSync(home)).toEqual(['mail']);
    const names = readdirSync(join(home, 'mail'));
    expect(names).toHaveLength(5);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}\.json$/);
  });

  it('says that it could not, and leaves nothing half written under the name of a mail', async () => {
    const transport = files('/dev/null/mail');
    await expect(transport.deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'unreachable', status: null });
  });
});
