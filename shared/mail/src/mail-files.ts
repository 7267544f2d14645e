import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { MailFailure, type MailTransport } from './transport.ts';

interface MailFilesOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Catches mails on a machine without a mail server: each becomes a JSON file, whole from the moment it has its name. */
export const createMailFiles = ({ folder, clock, ids }: MailFilesOptions): MailTransport => ({
  async deliver({ id, to, subject, text, html }) {
    // An id may hold what no file may be called.
    const name = createHash('sha256').update(id).digest('hex').slice(0, 32);
    const unfinished = join(folder, `.${ids.uuid()}`);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const mail = { to, subject, text, html, sent_at: clock.now().toISOString() };
      await writeFile(unfinished, `${JSON.stringify(mail, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      await rename(unfinished, join(folder, `${name}.json`));
    } catch (cause) {
      throw new MailFailure('unreachable', null, cause);
    }
  },
  close: () => Promise.resolve(),
});
