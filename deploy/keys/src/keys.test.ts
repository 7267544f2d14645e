import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openKeys } from './keys.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the keys of a deployment', () => {
  it('are made once', () => {
    const [first, again] = [openKeys(folder), openKeys(folder)];
    expect(again.secret('seal', 32)).toEqual(first.secret('seal', 32));
    expect(again.publicKeys(['gateway', 'signup'])).toBe(first.publicKeys(['gateway', 'signup']));
  });

  it.each([
    ['cut', (path: string) => truncateSync(path, 10)],
    ['emptied', (path: string) => truncateSync(path, 0)],
    ['not text', (path: string) => writeFileSync(path, Buffer.alloc(119, 0xff))],
    [
      'a folder',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])('are refused by the name of the file when it is %s, and not made again', (_, damage) => {
    const keys = openKeys(folder);
    keys.secret('seal', 32);
    for (const path of [keys.privateKeyFile('gateway'), join(folder, 'seal.key')]) damage(path);
    expect(() => openKeys(folder).publicKeys(['gateway'])).toThrow(`${join(folder, 'gateway.key')} holds no private key.`);
    expect(() => openKeys(folder).secret('seal', 32)).toThrow(`${join(folder, 'seal.key')} does not hold 32 bytes in base64.`);
  });

  it('of another length are kept as they are', () => {
    openKeys(folder).secret('seal', 16);
    const before = readFileSync(join(folder, 'seal.key'));
    expect(() => openKeys(folder).secret('seal', 32)).toThrow(expect.objectContaining({ name: 'StartupError' }));
    expect(readFileSync(join(folder, 'seal.key'))).toEqual(before);
  });
});
