import { anyone } from '@bubbles/auth/guards.ts';
import type { GuardRequest } from '@bubbles/http/routes/guard.ts';
import { describe, expect, it } from '@jest/globals';
import { ownForm } from './own-form.ts';

const sentWith = (headers: Readonly<Record<string, readonly string[]>>): GuardRequest => ({
  header: (name) => headers[name] ?? [],
  cookie: () => null,
  target: '/',
  body: () => Promise.resolve({}),
  clientAddress: () => '192.0.2.7',
  answerWith: () => undefined,
  publicBaseUrl: 'https://api.test',
});

describe('a form of our own pages', () => {
  const { admit, refusals } = ownForm(anyone);

  it.each([
    [{}],
    [{ 'sec-fetch-site': ['same-origin'], origin: ['https://api.test'] }],
    [{ 'sec-fetch-site': ['same-origin'], origin: ['null'] }],
    [{ 'sec-fetch-site': ['none'] }],
    [{ origin: ['https://api.test'] }],
  ])('is taken with %j', async (headers) => {
    expect(await admit(sentWith(headers), {})).toEqual({});
  });

  it.each([
    [{ 'sec-fetch-site': ['cross-site'] }],
    [{ 'sec-fetch-site': ['same-site'], origin: ['null'] }],
    [{ 'sec-fetch-site': ['same-origin', 'cross-site'] }],
    [{ 'sec-fetch-site': [''] }],
    [{ origin: ['https://evil.test'] }],
    [{ origin: ['https://api.test.evil.test'] }],
    [{ origin: ['http://api.test'] }],
    [{ 'sec-fetch-site': ['same-origin'], origin: ['https://evil.test'] }],
  ])('[case 41] is refused with %j', async (headers) => {
    await expect(admit(sentWith(headers), {})).rejects.toMatchObject({ kind: 'forbidden' });
    expect(refusals).toContain('forbidden');
  });
});
