import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { renderDocument } from './document.ts';

describe('the rendered document', () => {
  const document = { openapi: '3.1.0', paths: {} };
  const originOf = (n: number) => `https://api-${n}.example`;

  it('[API-02] is another for each origin, also when more came than are kept', async () => {
    const rendered = renderDocument(document);
    const etags = new Set<string>();
    for (let round = 0; round < 2; round += 1)
      for (let n = 0; n < 10; n += 1) {
        const expected = { ...document, servers: [{ url: originOf(n) }] };
        expect(JSON.parse(rendered.identity(originOf(n)).toString())).toEqual(expected);
        expect(JSON.parse(gunzipSync(await rendered.gzip(originOf(n))).toString())).toEqual(expected);
        etags.add(rendered.etag(originOf(n)));
      }
    expect(etags.size).toBe(10);
  });

  it('[GEN-14] is made once for those who come by one name', async () => {
    const rendered = renderDocument(document);
    expect(rendered.identity(originOf(1))).toBe(rendered.identity(originOf(1)));
    expect(await rendered.gzip(originOf(1))).toBe(await rendered.gzip(originOf(1)));
  });
});
