import { describe, expect, it } from '@jest/globals';
import type { Operation } from './fragment.ts';
import { ownerOf } from './ownership.ts';
import { RoutingTable } from './routing-table.ts';

const anOperation = (template: string, overrides: Partial<Operation> = {}): Operation => ({
  service: 'bubbles-query',
  method: 'GET',
  template,
  operationId: template,
  auth: 'pat',
  timeoutMs: null,
  bodyLimitBytes: 65_536,
  errorFormat: 'envelope',
  isUnsafe: false,
  ...overrides,
});
const table = new RoutingTable(
  ['/v1/bubbles', '/v1/bubbles/search', '/v1/bubbles/{id}', '/v1/bubbles/{id}/comments', '/v1/bubbles/search/{word}'].map((path) =>
    anOperation(path),
  ),
);
const templateAt = (path: string) => table.match(path)?.operations.get('GET')?.template ?? null;

describe('routing table', () => {
  it.each([
    ['/v1/bubbles', '/v1/bubbles'],
    ['/v1/bubbles/search', '/v1/bubbles/search'],
    ['/v1/bubbles/Search', '/v1/bubbles/{id}'],
    ['/v1/bubbles/a%2Fb', '/v1/bubbles/{id}'],
    ['/v1/bubbles/search/comments', '/v1/bubbles/search/{word}'],
    ['/v1/bubbles/1/comments', '/v1/bubbles/{id}/comments'],
    ['/v1/bubbles/constructor', '/v1/bubbles/{id}'],
    ['/v1/bubbles/', null],
    ['/v1/bubbles//comments', null],
    ['/v1/bubbles/1/comments/', null],
    ['/v1', null],
    ['/', null],
    ['/V1/bubbles', null],
    ['/v1/bubbles/1/__proto__', null],
  ])('[GEN-08] %s is %s', (path, template) => {
    expect(templateAt(path)).toBe(template);
  });

  it('[GEN-08] a literal that leads nowhere gives way to the parameter', () => {
    const crossing = new RoutingTable([anOperation('/a/b/c'), anOperation('/a/{x}/d')]);
    expect(crossing.match('/a/b/d')?.operations.get('GET')?.template).toBe('/a/{x}/d');
  });

  it('[GEN-08] Allow names the methods of the path, HEAD with GET', () => {
    const both = new RoutingTable([anOperation('/a', { method: 'POST' }), anOperation('/a'), anOperation('/b', { method: 'DELETE' })]);
    expect([both.match('/a')?.allow, both.match('/b')?.allow]).toEqual(['GET, HEAD, OPTIONS, POST', 'DELETE, OPTIONS']);
  });
});

describe('ownership', () => {
  it.each([
    ['/v1/me', 'identity'],
    ['/v1/me/x', 'identity'],
    ['/v1/meetings', 'meetings'],
    ['/v1/mes', null],
    ['/oauth/token', 'identity'],
    ['/oauth', null],
    ['/v1/bubbles/special/1', 'special'],
  ])('[GEN-08] %s belongs to %s: whole segments, the longest prefix', (path, owner) => {
    expect(
      ownerOf(path, {
        identity: ['/v1/me', '/oauth/'],
        meetings: ['/v1/meetings'],
        bubbles: ['/v1/bubbles'],
        special: ['/v1/bubbles/special'],
      }),
    ).toBe(owner);
  });
});
