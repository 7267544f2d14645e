import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { admitAddress, requireMailServer } from '../../use-cases/addresses.ts';
import { createMailServers } from './mail-servers.ts';

const fault = (code: string) => Promise.reject(Object.assign(new Error(`queryMx ${code} example.com`), { code }));
const NONE = { resolveMx: () => fault('ENODATA'), resolve4: () => fault('ENODATA'), resolve6: () => fault('ENOTFOUND') };
type Servers = NonNullable<Parameters<typeof createMailServers>[0]['servers']>;

/** Answers as the DNS would; the types of the resolver name more record types than are asked. */
const made = (answers: object, timeLimitMs?: number) => {
  const log = memoryLog();
  const registry = new Registry();
  const servers = { ...NONE, ...answers } as unknown as Servers;
  return { log, registry, mailServers: createMailServers({ log, registry, servers, ...(timeLimitMs !== undefined && { timeLimitMs }) }) };
};

describe('the look-up of a mail server', () => {
  it.each([
    ['an exchange', { resolveMx: () => Promise.resolve([{ exchange: 'mx.example.com', priority: 10 }]) }, 'present'],
    ['an address without an exchange', { resolve4: () => Promise.resolve(['192.0.2.1']) }, 'present'],
    ['an IPv6 address alone', { resolve6: () => Promise.resolve(['2001:db8::1']) }, 'present'],
    ['nothing', {}, 'absent'],
    [
      'an exchange that says that no mail is taken',
      { resolveMx: () => Promise.resolve([{ exchange: '', priority: 0 }]), resolve4: () => Promise.resolve(['192.0.2.1']) },
      'absent',
    ],
    ['no answer', { resolveMx: () => fault('ETIMEOUT') }, 'unknown'],
    ['a server that fails', { resolveMx: () => fault('ESERVFAIL') }, 'unknown'],
    ['a server that fails half way', { resolve6: () => fault('ECONNREFUSED') }, 'unknown'],
    ['names that do not exist', { resolveMx: () => fault('ENOTFOUND'), resolve4: () => fault('ENOTFOUND') }, 'absent'],
  ] as const)('[SIGN-02] %s: %j is %s', async (_, answers, result) => {
    const { mailServers, registry } = made(answers);
    expect(await mailServers.of('example.com')).toBe(result);
    expect(await registry.metrics()).toContain(`signup_mail_server_lookups_total{result="${result}"} 1`);
  });

  it('[SIGN-02] a DNS that is silent lets the address pass within the time limit, and is logged without the domain', async () => {
    const { mailServers, log } = made({ resolveMx: () => new Promise(() => undefined) }, 20);
    expect(await mailServers.of('secret.example')).toBe('unknown');
    expect(log.lines.map(({ message }) => message)).toEqual(['mail server look-up failed, address passes']);
    expect(JSON.stringify(log.lines)).not.toContain('secret.example');
  });
});

describe('who may sign up', () => {
  const domainLists = { refusalOf: () => null, companyDomain: () => null };

  it('[SIGN-02] nobody at a domain without a mail server; anybody when the DNS is away, or not asked', async () => {
    const email = admitAddress({ domainLists }, 'Ada@Example.com');
    expect(email).toMatchObject({ address: 'ada@example.com', domain: 'example.com' });
    const required = (answers: object) => requireMailServer({ mailServers: made(answers).mailServers }, email);
    await expect(required({})).rejects.toMatchObject({ kind: 'invalid', message: expect.stringMatching(/^email: .*no mail server/) });
    await expect(required({ resolveMx: () => fault('ESERVFAIL') })).resolves.toBeUndefined();
    await expect(requireMailServer({ mailServers: null }, email)).resolves.toBeUndefined();
  });

  it.each(['disposable', 'denied'] as const)('[SIGN-02] nobody at a %s domain, with the reason', (refusal) => {
    const refused = { domainLists: { ...domainLists, refusalOf: () => refusal } };
    expect(() => admitAddress(refused, 'ada@example.com')).toThrow(/^email: addresses /);
    expect(() => admitAddress(refused, 'ada@localhost')).toThrow(/two parts/);
  });
});
