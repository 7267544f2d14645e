import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withLock } from './home.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stack-'));
});
afterEach(() => rmSync(home, { recursive: true }));

describe('the lock of a folder', () => {
  it('keeps a second command away while the first is at work', async () => {
    const second = withLock(home, () => withLock(home, () => Promise.resolve('inside')));
    await expect(second).rejects.toMatchObject({ name: 'StartupError' });
  });

  it('is free again afterwards, also after a failure', async () => {
    await expect(withLock(home, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withLock(home, () => Promise.resolve('inside'))).toBe('inside');
  });

  it.each(['', 'nobody', '-1'])('is taken over when it names no process, as "%s"', async (holder) => {
    writeFileSync(join(home, 'lock'), holder);
    expect(await withLock(home, () => Promise.resolve('inside'))).toBe('inside');
  });

  it('is taken over when its pid is that of another process now, as after a restart of the machine', async () => {
    const path = join(home, 'lock');
    const held = await withLock(home, () => Promise.resolve(readFileSync(path, 'utf8')));
    const other = spawn('sleep', ['300'], { stdio: 'ignore' });
    writeFileSync(path, held.replace(/^\d+/, String(other.pid)));
    try {
      expect(await withLock(home, () => Promise.resolve('inside'))).toBe('inside');
    } finally {
      other.kill();
    }
  });

  it('is taken over from a command that was killed', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(join(home, 'lock'), String(pid));
    expect(await withLock(home, () => Promise.resolve('inside'))).toBe('inside');
  });
});
