import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedStore, openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openMailbox } from './mailbox.ts';

let folder: string;
let store: EmbeddedStore;
const open = () => {
  store = openEmbedded({
    path: join(folder, 'sandbox.sqlite'),
    log: SILENT_LOG,
    onScan: (space) => {
      throw new Error(`no index of ${space}`);
    },
  });
  return openMailbox(store.database('sandbox'), fakeClock());
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mailbox-'));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const uncut = new AbortController().signal;
const aMail = (id: string, to = 'ada@example.test') => ({ id, to, subject: id, text: 'text', html: '<p>text</p>' });

describe('the mailbox of the sandbox', () => {
  it('shows what was mailed, newest first though the clock stands still, of one address or of all', async () => {
    const mailbox = await open();
    for (const [id, to] of [['1'], ['2', 'Ben@Example.test'], ['3']] as const) await mailbox.deliver(aMail(id, to), uncut);
    const subjects = async (to: string | null) => (await mailbox.read(to)).map(({ subject }) => subject);
    expect(await subjects(null)).toEqual(['3', '2', '1']);
    expect(await subjects('ADA@example.test')).toEqual(['3', '1']);
    expect(await subjects('ben@example.test')).toEqual(['2']);
    expect(await subjects('eve@example.test')).toEqual([]);
  });

  it('shows the mails of an address however its domain is written', async () => {
    const mailbox = await open();
    await mailbox.deliver(aMail('1', 'ada@xn--bcher-kva.test'), uncut);
    await mailbox.deliver(aMail('2', 'a@b_c..'), uncut);
    const subjects = async (to: string) => (await mailbox.read(to)).map(({ subject }) => subject);
    expect(await subjects('Ada@Bücher.test')).toEqual(['1']);
    expect(await subjects('ada@xn--bcher-kva.test')).toEqual(['1']);
    expect(await subjects('a@b_c..')).toEqual(['2']);
    expect(await subjects('bücher')).toEqual([]);
  });

  it('holds a mail once that was sent twice', async () => {
    const mailbox = await open();
    for (const id of ['1', '2', '1']) await mailbox.deliver(aMail(id), uncut);
    expect((await mailbox.read(null)).map(({ subject }) => subject)).toEqual(['2', '1']);
  });

  it('survives a restart, goes on in order, and is empty after a reset', async () => {
    const mailbox = await open();
    await mailbox.deliver(aMail('1'), uncut);
    await store.close();
    const again = await open();
    await again.deliver(aMail('2'), uncut);
    expect((await again.read(null)).map(({ subject }) => subject)).toEqual(['2', '1']);
    store.clear();
    expect(await again.read(null)).toEqual([]);
  });
});
