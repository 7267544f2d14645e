import { describe, expect, it } from '@jest/globals';
import { ownerFaults } from './owners.ts';
import { currentDocuments } from './releases.ts';

const reference = { $ref: '#/components/schemas/Thing' };
const using = (schema: object) => ({ get: { responses: { 200: { content: { 'application/json': { schema } } } } } });
const components = (type: string) => ({ schemas: { Thing: { type } } });
const answering = (type = 'string') => ({ paths: { '/a': using(reference) }, components: components(type) });
const sending = (type = 'string') => ({ paths: {}, webhooks: { ready: using(reference) }, components: components(type) });

const FAULT = 'signup defines the component schemas/Thing, which bubbles-query owns.';

describe('a component', () => {
  it('has one owner among the services', () => {
    expect(ownerFaults(currentDocuments().services)).toEqual([]);
  });

  it.each([
    ['the same', answering()],
    ['another', answering('number')],
  ])('is not defined a second time, with %s definition', (_, second) => {
    expect(ownerFaults({ 'bubbles-query': answering(), signup: second })).toEqual([expect.stringContaining(FAULT)]);
  });

  it('may be sent in webhooks by another service than the one that answers with it', () => {
    expect(ownerFaults({ signup: sending(), 'webhooks-dispatcher': answering() })).toEqual([]);
    expect(ownerFaults({ 'bubbles-query': sending(), signup: sending() })).toEqual([expect.stringContaining(FAULT)]);
  });

  it('may be defined by every service when the gateway owns it', () => {
    const shared = {
      paths: { '/a': using({ $ref: '#/components/schemas/ErrorEnvelope' }) },
      components: { schemas: { ErrorEnvelope: {} } },
    };
    expect(ownerFaults({ 'bubbles-query': shared, signup: shared })).toEqual([]);
  });
});
