import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createFormBrowser } from '../support/form-browser.ts';
import { control, type Sandbox, startSandbox } from './support/sandbox-world.ts';
import type { SentMail } from './support/world.ts';

let folder: string;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailbox-'));
  sandbox = await startSandbox(['--data', folder], { LOG_LEVEL: 'debug' });
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  await control(sandbox.url, 'POST /reset', {});
});

const mails = (to?: string): Promise<readonly SentMail[]> =>
  control(sandbox.url, `GET /mailbox${to === undefined ? '' : `?${new URLSearchParams({ to })}`}`);

const askForCode = async (address: string): Promise<void> => {
  const browser = createFormBrowser();
  const page = await browser.open(`${sandbox.url}/app/sign-in`);
  const answer = await browser.submit(page, { fields: { address } });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.html}`);
};

describe('the mailbox of the sandbox', () => {
  it('has each mail by the time that it is asked for, newest first, and of one address alone when one is named', async () => {
    for (const address of ['ida@acme.test', 'ole@acme.test', 'ida@acme.test']) {
      await control(sandbox.url, 'POST /clock', { advance_seconds: 120 });
      await askForCode(address);
    }
    const all = await mails();
    expect(all.map(({ to }) => to)).toEqual(['ida@acme.test', 'ole@acme.test', 'ida@acme.test']);
    expect(all.map(({ sent_at }) => sent_at)).toEqual(
      all
        .map(({ sent_at }) => sent_at)
        .toSorted()
        .toReversed(),
    );
    expect(await mails('Ole@acme.test')).toEqual([
      {
        to: 'ole@acme.test',
        subject: expect.any(String),
        text: expect.stringMatching(/\b\d{6}\b/),
        html: expect.stringMatching(/\b\d{6}\b/),
        sent_at: expect.any(String),
      },
    ]);
    expect(await mails('eve@acme.test')).toEqual([]);
  });

  it('keeps what was mailed over a kill, with what was asked for and not mailed yet', async () => {
    await askForCode('ida@acme.test');
    const before = await mails();
    await askForCode('ole@acme.test');
    await sandbox.stop('SIGKILL');
    sandbox = await startSandbox(['--data', folder], { LOG_LEVEL: 'debug' });
    const after = await mails();
    expect(after.slice(-1)).toEqual(before);
    expect(after.map(({ to }) => to)).toEqual(['ole@acme.test', 'ida@acme.test']);
  });

  it('is emptied by a reset', async () => {
    await askForCode('ida@acme.test');
    expect(await mails()).toHaveLength(1);
    await control(sandbox.url, 'POST /reset', {});
    expect(await mails()).toEqual([]);
  });

  it('logs neither address nor code', async () => {
    await askForCode('ida.berg@acme.test');
    const [mail] = await mails();
    const [code = ''] = /\b\d{6}\b/.exec(mail?.text ?? '') ?? [];
    expect(sandbox.output() + sandbox.errors()).not.toContain('ida.berg');
    expect(sandbox.errors()).not.toContain(code);
  });
});
