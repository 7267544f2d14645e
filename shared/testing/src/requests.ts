import type { Guard } from '@bubbles/http/routes/guard.ts';
import { cookieValue } from '@bubbles/http/wire/framing.ts';
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

/** What a guard finds in a request with these headers, or its refusal; and the headers that it puts on the answer. */
export const askGuard = async <I extends object, P>(guard: Guard<I, P>, sent: Readonly<Record<string, readonly string[]>>, ports: P) => {
  const headers: Record<string, string> = {};
  const request = {
    header: (name: string) => sent[name] ?? [],
    cookie: (name: string) => cookieValue(sent['cookie'] ?? [], name),
    target: '/app/things?limit=1',
    body: () => Promise.resolve(undefined),
    clientAddress: () => '192.0.2.7',
    answerWith: (name: string, value: string) => {
      headers[name] = value;
    },
    publicBaseUrl: 'https://api.test',
  };
  const found = await guard.admit(request, ports).catch((refusal: unknown) => ({ refusal }));
  return { ...found, headers };
};
