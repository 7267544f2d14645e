import type { TestHttp } from './http.ts';
import { aCaller } from './http.ts';
import { rawExchange } from './raw-http.ts';

export const caller = aCaller({ scopes: ['things:read', 'things:write'] });

export const jsonBody = (body: unknown): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** `fetch` would tidy the path up. */
export const rawTarget = (http: TestHttp, target: string): Promise<string> =>
  rawExchange(http.url, `GET ${target} HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`);
