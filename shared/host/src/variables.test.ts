import { flag, localValues, parsedText } from '@bubbles/kernel/config-values.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type LocalMachine, localEnvironment, settingsOf } from './variables.ts';

const Even = parsedText('must be even', (text) => (Number(text) % 2 === 0 ? Number(text) : null));
const service = {
  name: 'sample',
  asks: [],
  variables: {
    PROVIDER: z.enum(['none', 'real']).register(localValues, { kind: 'text', text: 'none' }),
    SEAL_KEY: z.string().register(localValues, { kind: 'key', bytes: 4 }),
    FOLDER: z.string().register(localValues, { kind: 'folder', name: 'files' }),
    LIMIT: Even.default(2),
    QUIET: flag().default(false),
  },
} as const;

const machine: LocalMachine = {
  publicBaseUrl: 'http://localhost:1',
  keyId: 'k1',
  secret: (_name, bytes) => Buffer.alloc(bytes, 1),
  folder: (name) => `/data/${name}`,
  callerKeys: () => 'nobody',
  serviceKey: () => ({}),
  urls: () => '',
};
const environment = (settings: Readonly<Record<string, string>>) => {
  const { PUBLIC_BASE_URL: _, CALLER_KEYS: __, ...own } = localEnvironment(service, machine, settings);
  return own;
};

describe('a machine that runs services of its own', () => {
  it('gives them keys, folders and what is usual there', () => {
    expect(environment({})).toEqual({ PROVIDER: 'none', SEAL_KEY: 'AQEBAQ==', FOLDER: '/data/files' });
  });

  it('lets who starts it say what is not its own', () => {
    const told = { PROVIDER: 'real', LIMIT: '4', SEAL_KEY: 'mine', FOLDER: '/mine', ELSE: 'x' };
    expect(environment(told)).toEqual({ PROVIDER: 'real', LIMIT: '4', SEAL_KEY: 'AQEBAQ==', FOLDER: '/data/files' });
  });

  it('reads the settings that may be told, and needs none', () => {
    const Settings = z.object(settingsOf([service]));
    expect(Settings.parse({})).toEqual({ LIMIT: 2, QUIET: false });
    expect(Settings.safeParse({ PROVIDER: 'odd', LIMIT: '3', SEAL_KEY: 7 }).error?.issues.map(({ path }) => path[0])).toEqual([
      'PROVIDER',
      'LIMIT',
    ]);
  });
});
