import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { createDomainLists, type OwnDomains } from './domain-lists.ts';

const NONE: OwnDomains = { allowed: new Set(), denied: new Set(), company: new Set(), consumer: new Set() };
const lists = createDomainLists(NONE);
const listsWith = (own: Partial<OwnDomains>) => createDomainLists({ ...NONE, ...own });

describe('domains of temporary addresses', () => {
  it.each([
    'mailinator.com',
    'x.mailinator.com',
    'a.b.guerrillamail.com',
    'yopmail.com',
    '10minutemail.com',
    'anything.33mail.com',
    'tempmail.dev',
  ])('[SIGN-02] %s may not sign up', (domain) => {
    expect(lists.refusalOf(domain)).toBe('disposable');
    expect(lists.companyDomain(domain)).toBeNull();
  });

  it.each([
    'example.com',
    'acme.co.uk',
    'acmemailinator.com',
    'gmail.com',
    'mailinator.com.example.org',
    'uni.edu.pl',
    'shop.web.id',
    'acme.za.com',
    '21cn.com',
  ])('[SIGN-02] %s may', (domain) => {
    expect(lists.refusalOf(domain)).toBeNull();
  });

  it('[SIGN-02] a domain of very many parts is judged by its last ones', () => {
    const many = (domain: string): string => `${'a.'.repeat(100)}${domain}`;
    expect([lists.refusalOf(many('mailinator.com')), lists.refusalOf(many('example.com'))]).toEqual(['disposable', null]);
    expect([lists.companyDomain(many('gmail.com')), lists.companyDomain(many('acme.co.uk'))]).toEqual([null, 'acme.co.uk']);
  });

  it('[SIGN-02] lists that are written in Unicode are met in ASCII', () => {
    expect(lists.refusalOf('xn--gmanet-q4a.net')).toBeNull();
    expect(lists.refusalOf(new URL('http://gmaıl.net').hostname)).toBe('disposable');
  });

  it('[SIGN-02] the lists of an installation decide first, and of them the longest name', () => {
    const own = listsWith({
      allowed: new Set(['mailinator.com', 'good.denied.example']),
      denied: new Set(['denied.example', 'bad.mailinator.com', 'xyz']),
    });
    expect(own.refusalOf('mailinator.com')).toBeNull();
    expect(own.refusalOf('x.mailinator.com')).toBeNull();
    expect(own.refusalOf('x.bad.mailinator.com')).toBe('denied');
    expect(own.refusalOf('denied.example')).toBe('denied');
    expect(own.refusalOf('sub.denied.example')).toBe('denied');
    expect(own.refusalOf('x.good.denied.example')).toBeNull();
    expect(own.refusalOf('any.xyz')).toBe('denied');
    expect(own.refusalOf('notdenied.example')).toBeNull();
  });
});

describe('the domain of a company', () => {
  it.each([
    ['acme.com', 'acme.com'],
    ['mail.eu.acme.com', 'acme.com'],
    ['acme.co.uk', 'acme.co.uk'],
    ['mail.acme.co.uk', 'acme.co.uk'],
    ['acme.github.io', 'acme.github.io'],
    ['mail.acme.github.io', 'acme.github.io'],
    ['xn--exmple-cua.com', 'xn--exmple-cua.com'],
    ['acme.test', 'acme.test'],
    ['mygmail.com', 'mygmail.com'],
  ])('[SIGN-04] of %s is %s', (domain, company) => {
    expect(lists.companyDomain(domain)).toBe(company);
  });

  it.each([
    ...[
      'gmail.com',
      'googlemail.com',
      'yahoo.com',
      'yahoo.co.jp',
      'yahoo.com.br',
      'hotmail.se',
      'hotmail.co.uk',
      'outlook.fr',
      'outlook.com.br',
      'live.co.uk',
    ],
    ...[
      'gmx.ch',
      'gmx.net',
      'yandex.kz',
      'ya.ru',
      'web.de',
      't-online.de',
      'icloud.com',
      'proton.me',
      'tutanota.com',
      'hey.com',
      'fastmail.com',
    ],
    ...['qq.com', '163.com', 'naver.com', 'orange.fr', 'mozmail.com', 'privaterelay.appleid.com', 'duck.com', 'sub.gmail.com'],
    ...[
      'aol.de',
      'aol.co.uk',
      'tiscali.cz',
      'vodafonemail.de',
      'bbox.fr',
      'upcmail.nl',
      'citromail.hu',
      'azet.sk',
      'ocn.ne.jp',
      'msa.hinet.net',
    ],
    ...['acme.onmicrosoft.com', 'acme.zendesk.com', 'co.uk', 'github.io', 'com'],
  ])('[SIGN-07] there is none for %s, at which anybody can have an address', (domain) => {
    expect(lists.companyDomain(domain)).toBeNull();
  });

  it('[SIGN-07] the lists of an installation decide first', () => {
    const own = listsWith({
      company: new Set(['gmx.ch', 'a.isp.example']),
      consumer: new Set(['isp.example']),
      denied: new Set(['denied.example']),
    });
    expect(own.companyDomain('gmx.ch')).toBe('gmx.ch');
    expect(own.companyDomain('isp.example')).toBeNull();
    expect(own.companyDomain('mail.isp.example')).toBeNull();
    expect(own.companyDomain('denied.example')).toBeNull();
    expect(own.companyDomain('acme.example')).toBe('acme.example');
  });
});

describe('what the lists cost', () => {
  const measured = (): { readonly heapMb: number; readonly lookupUs: number; readonly beforeMb: number } => {
    const script = `
      const { createDomainLists } = await import(${JSON.stringify(new URL('./domain-lists.ts', import.meta.url).href)});
      const used = () => { gc(); gc(); return process.memoryUsage().heapUsed / 1e6; };
      const none = { allowed: new Set(), denied: new Set(), company: new Set(), consumer: new Set() };
      const start = used();
      const lists = createDomainLists(none);
      const beforeMb = used() - start;
      lists.companyDomain('acme.com');
      const heapMb = used() - start;
      const times = [];
      for (let at = 0; at < 20000; at += 1) {
        const domain = (at % 2 ? 'a.'.repeat(100) : 'mail') + at + '.corp' + at + '.co.uk';
        const began = performance.now();
        lists.refusalOf(domain); lists.companyDomain(domain);
        times.push((performance.now() - began) * 500);
      }
      times.sort((a, b) => a - b);
      console.log(JSON.stringify({ heapMb, beforeMb, lookupUs: times[times.length / 2] }));`;
    return JSON.parse(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script], { encoding: 'utf8' }));
  };

  it('[SIGN-02] at most 15 MB once they are needed, nothing before, and 20 µs a look-up', () => {
    const { heapMb, beforeMb, lookupUs } = measured();
    expect(beforeMb).toBeLessThan(0.5);
    expect(heapMb).toBeLessThan(15);
    expect(lookupUs).toBeLessThan(20);
  });
});
