import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { caller } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

describe('query parameters', () => {
  let http: TestHttp;
  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes(), caller });
  });
  afterAll(() => http.stop());

  const ask = async (path: string) => {
    const answer = await http.fetch(path);
    return { status: answer.status, body: await answer.json() };
  };
  const refused = (message: string) => ({ status: 400, body: { error: { type: 'invalid_request', message } } });

  it.each([
    ['?limit=', 'limit: must not be empty'],
    ['?limit', 'limit: must not be empty'],
    ['?limit=1&limit=2', 'limit: may be given once'],
    ['?limit=1&limit=1', 'limit: may be given once'],
    ['?limit=1&lim%69t=1', 'limit: may be given once'],
    ['?limit=0', 'limit: must be a whole number from 1 to 99'],
    ['?limit=%2025', 'limit: must be a whole number from 1 to 99'],
    ['?limit=+25', 'limit: must be a whole number from 1 to 99'],
    ['?colour=green', 'colour: must be one of "red", "blue"'],
    ['?limit=x&colour=green', 'limit: must be a whole number from 1 to 99; colour: must be one of "red", "blue"'],
    ['?limit=%', 'query: malformed percent-encoding'],
    ['?limit=%ZZ', 'query: malformed percent-encoding'],
    ['?x=%FF%FE', 'query: malformed percent-encoding'],
    ['?x=%ED%A0%80', 'query: malformed percent-encoding'],
    ['?%C0%AF=1', 'query: malformed percent-encoding'],
    ['?x=a%00', 'query: must be well-formed text without NUL'],
  ])('[GEN-06] %s is refused and named', async (query, message) => {
    expect(await ask(`/v1/things${query}`)).toEqual(refused(message));
  });

  it.each([
    '',
    '?',
    '?&&',
    '?unknown=1&unknown=2',
    '?unknown=',
    '?limit[]=1',
    '?limit[$gt]=1',
    '?LIMIT=1',
    '?__proto__=1',
    '?__proto__[limit]=1&constructor=2',
    '?token=svc_pat_x',
  ])('[GEN-06] what nobody knows is ignored: "%s"', async (query) => {
    expect(await ask(`/v1/things${query}`)).toEqual({ status: 200, body: { data: [], limit: 25, colour: null } });
  });

  it('[GEN-06] 50 parameters are read, 51 are refused', async () => {
    const unknown = (count: number) => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&');
    expect(await ask(`/v1/things?${unknown(49)}&limit=7`)).toMatchObject({ status: 200, body: { limit: 7 } });
    expect(await ask(`/v1/things?${unknown(50)}&limit=7`)).toEqual(refused('query: must have at most 50 parameters'));
    expect(await ask(`/v1/things?${unknown(1499)}&limit=7`)).toEqual(refused('query: must have at most 50 parameters'));
  });

  it.each([
    ['a+b', 'a b'],
    ['a%2Bb', 'a+b'],
    ['a%20b', 'a b'],
    ['%C3%A9%F0%9F%A6%80', 'é\u{1f980}'],
    ['a=b', 'a=b'],
    ['a%26b', 'a&b'],
    ['a%0d%0ab', 'a\r\nb'],
  ])('[SRCH-01] %s is read as the text it stands for', async (raw, q) => {
    expect(await ask(`/v1/things/search?q=${raw}`)).toEqual({ status: 200, body: { q } });
  });

  it('[SRCH-01] a required one that is absent or empty is named', async () => {
    expect(await ask('/v1/things/search')).toEqual(refused('q: is required'));
    expect(await ask('/v1/things/search?q=')).toEqual(refused('q: must not be empty'));
  });
});
