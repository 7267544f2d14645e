import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATED, SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import { describe, expect, it } from '@jest/globals';
import { partsOf } from './deployment.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PARTS = partsOf();
const services = PARTS.filter(({ kind }) => kind === 'service');
/** But for the job of the keys, which imports its variables from here. */
const jobs = PARTS.filter(({ kind, name }) => kind === 'job' && name !== 'keys');
const table: ServiceTable = SERVICES;

const packagesOf = (workspace: string): readonly string[] =>
  Object.keys(JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')).dependencies);
const secretsOf = (name: string): readonly string[] =>
  (PARTS.find((part) => part.name === name)?.variables ?? []).filter(({ isSecret }) => isSecret).map((variable) => variable.name);

describe('the parts of a release', () => {
  it.each(services)('$name connects to what its packages are for', ({ workspace, reaches }) => {
    const packages = packagesOf(workspace);
    const dials = ['undici', '@bubbles/address-guard'].some((name) => packages.includes(name));
    expect(reaches.includes('internet')).toBe(dials);
    expect(reaches.includes('mail server')).toBe(packages.includes('@bubbles/mail'));
  });

  it.each(PARTS.filter(({ calls }) => calls.length > 0))('$name is among the callers of all that it calls', ({ name, calls }) => {
    const caller = name === 'admin' ? 'operator' : name;
    for (const callee of calls) expect(table[callee]?.callers).toContain(caller);
  });

  it.each(services)('$name has no caller that does not call it', ({ name }) => {
    const callers = PARTS.filter(({ calls }) => calls.includes(name)).map((part) => (part.name === 'admin' ? 'operator' : part.name));
    const others = (table[name]?.callers ?? []).filter((caller) => caller !== 'assistant-connector');
    expect(callers.toSorted()).toEqual(others.toSorted());
  });

  it.each(jobs)('the variables of $name are those that its process reads', ({ workspace, variables }) => {
    const sources = globSync(join(ROOT, workspace, 'src/*.ts')).filter((file) => !file.endsWith('.test.ts'));
    const source = sources.map((file) => readFileSync(file, 'utf8')).join('\n');
    const read =
      source.match(/\b[A-Z]+(?:_[A-Z]+)+(?=: (?:baseUrl|connectionUrl|signingKey|z[.]string)\()|(?<=process[.]env\[')[A-Z_]+/g) ?? [];
    const operated: readonly string[] = workspace === 'deploy/admin' ? OPERATED.map(({ urlVariable }) => urlVariable) : [];
    expect(variables.map(({ name }) => name).toSorted()).toEqual([...new Set([...read, ...operated])].toSorted());
  });

  it.each(PARTS)('$name says of each variable what it is for', ({ variables }) => {
    expect(variables.filter(({ description }) => description === '').map(({ name }) => name)).toEqual([]);
  });

  it('tells what counts when nobody sets a variable, as it would be written', () => {
    const defaults = new Map(PARTS.flatMap(({ variables }) => variables).map((variable) => [variable.name, variable.defaultText]));
    const names = ['PORT', 'DRAIN_DEADLINE', 'SHEDDING', 'PRO_TRIAL', 'TRUSTED_PROXIES', 'WEBHOOK_ALLOW_CIDRS', 'MONGODB_URL'];
    expect(names.map((name) => defaults.get(name))).toEqual(['8080', '25s', '1', '14d', null, null, null]);
  });

  it('tells which variables are secrets', () => {
    expect(secretsOf('gateway')).toEqual(['SERVICE_KEY']);
    expect(secretsOf('bubbles-query')).toEqual([
      'MONGODB_URL',
      'AMQP_URL',
      'SERVICE_KEY',
      'CURSOR_KEY',
      'CURSOR_KEY_PREVIOUS',
      'PERSON_KEY',
    ]);
    expect(secretsOf('signup')).toEqual([
      'MONGODB_URL',
      'AMQP_URL',
      'SERVICE_KEY',
      'SEAL_KEYS',
      'GOOGLE_CALENDAR_CLIENT_SECRET',
      'MICROSOFT_CALENDAR_CLIENT_SECRET',
      'SMTP_URL',
    ]);
  });

  it('takes every variable whose name says so for a secret', () => {
    const open = PARTS.flatMap(({ variables }) => variables).filter(
      ({ name, isSecret }) => /PASSWORD|SECRET|TOKEN$|(?<!CALLER)_KEYS?(?:_|$)/.test(name) && !isSecret,
    );
    expect(open.map(({ name }) => name)).toEqual(['MEDIA_S3_ACCESS_KEY_ID']);
  });
});
