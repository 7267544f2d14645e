import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EVENTS } from '../src/events/catalog.ts';
import { asyncApiDocument } from './asyncapi-document.ts';

const document = asyncApiDocument(EVENTS);

const references = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' && typeof inner === 'string' ? [inner] : references(inner)));
};

const resolve = (reference: string): unknown =>
  reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>(
      (node, key) => (typeof node === 'object' && node !== null ? Object.entries(node).find(([name]) => name === key)?.[1] : undefined),
      document,
    );

describe('asyncapi.json', () => {
  it('is what the event definitions say', () => {
    const written: unknown = JSON.parse(readFileSync(new URL('../asyncapi.json', import.meta.url), 'utf8'));
    expect(written).toEqual(document);
  });

  it('names publisher and consumers of every event', () => {
    for (const { type, publisher, consumers } of EVENTS) {
      expect(document).toHaveProperty(['channels', type], expect.objectContaining({ 'x-publisher': publisher, 'x-consumers': consumers }));
      expect(document).toHaveProperty(['operations', `${publisher}.send.${type}`]);
      for (const consumer of consumers) expect(document).toHaveProperty(['operations', `${consumer}.receive.${type}`]);
    }
  });

  it('has no reference that leads nowhere', () => {
    const found = references(document);
    expect(found.length).toBeGreaterThan(EVENTS.length);
    expect(found.filter((reference) => resolve(reference) === undefined)).toEqual([]);
  });
});

describe('the events', () => {
  it.each(EVENTS)('$type is named <owner>.<noun>.<past>.v<n>', ({ type }) => {
    expect(type).toMatch(/^[a-z]+\.[a-z]+\.[a-z]+\.v[1-9]$/);
  });

  it('are each there once', () => {
    expect(new Set(EVENTS.map(({ type }) => type)).size).toBe(EVENTS.length);
  });
});
