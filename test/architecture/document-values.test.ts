import { readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { mergeFragments } from '@bubbles/gateway/documents/merge.ts';
import { OWNED_PREFIXES } from '@bubbles/gateway/documents/ownership.ts';
import { DOCUMENT_HEAD } from '@bubbles/gateway/pages/document-head.ts';
import { ownFragment } from '@bubbles/gateway/pages/pages.ts';
import { describe, expect, it } from '@jest/globals';
import { schemaFaultsIn } from '../fuzz/json-schema.ts';
import { everyService, fragmentOf } from '../support/services.ts';
import { REQUEST_COMPONENTS, RESPONSE_COMPONENTS } from './interface-components.ts';

type Json = Readonly<Record<string, unknown>>;
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const fragments = everyService().map((service) => {
  const fragment = readFragment(service.name, fragmentOf(service));
  if ('code' in fragment) throw new Error(`${service.name}: ${fragment.code}`);
  return fragment;
});
const { document } = mergeFragments({ head: DOCUMENT_HEAD, fragments: [...fragments, ownFragment()], prefixes: OWNED_PREFIXES });
if (document === null) throw new Error('The fragments make no document.');
const parts: Json = isJson(document['components']) ? document['components'] : {};
const components: Json = isJson(parts['schemas']) ? parts['schemas'] : {};
const faultsOf = schemaFaultsIn(document);

interface Spot {
  readonly at: string;
  readonly schema: Json;
}
/** Every object of the document that has the key, whatever it stands for. */
const withKey = (key: string, value: unknown = document, at = ''): readonly Spot[] => {
  if (Array.isArray(value)) return value.flatMap((inner, n) => withKey(key, inner, `${at}/${n}`));
  if (!isJson(value)) return [];
  const inside = Object.entries(value).filter(([name]) => name !== 'example' && name !== 'examples');
  const own = Object.hasOwn(value, key) ? [{ at, schema: value }] : [];
  return [...own, ...inside.flatMap(([name, inner]) => withKey(key, inner, `${at}/${name}`))];
};

describe('the values that the document shows', () => {
  const given = withKey('examples').flatMap(({ at, schema }) =>
    Array.isArray(schema['examples']) ? schema['examples'].map((example) => ({ at, schema, example })) : [],
  );
  const ofMedia = withKey('example').map(({ at, schema }) => ({
    at,
    schema: isJson(schema['schema']) ? schema['schema'] : {},
    example: schema['example'],
  }));
  const all = [...given, ...ofMedia];

  it('are there', () => {
    expect(given.length).toBeGreaterThan(50);
    expect(ofMedia.length).toBeGreaterThan(5);
  });

  it('[API-01] are valid against their own schemas', () => {
    const faults = all.flatMap(({ at, schema, example }) => faultsOf(schema, example).map((fault) => `${at}: ${fault}`));
    expect(faults).toEqual([]);
  });

  it.each([
    ['a value of another enumeration', { ...Object(exampleOf('Team')), plan: 'gold' }, 'Team'],
    ['an id of another form', { ...Object(exampleOf('WebhookSubscription')), id: 'wh_1' }, 'WebhookSubscription'],
    ['a field that is missing', { id: 'x' }, 'User'],
    [
      'a fault further inside',
      { ...Object(exampleOf('Bubble')), media: { ...Object(exampleOf('Bubble')).media, is_processed: 'no' } },
      'Bubble',
    ],
  ])('[API-01] would not be with %s', (_, example, name) => {
    expect(faultsOf({ $ref: `#/components/schemas/${name}` }, example)).not.toEqual([]);
  });

  it('[API-01] are whole for each thing that is asked for or answered', () => {
    const whole = Object.keys({ ...RESPONSE_COMPONENTS, ...REQUEST_COMPONENTS }).filter((name) => Object.hasOwn(components, name));
    const parts = [
      'BubblePerson',
      'BubbleMedia',
      'BubbleMeeting',
      'CommentAuthor',
      'TeamChannel',
      'TranscriptSegment',
      'TranscriptSpeaker',
    ];
    const without = whole.filter((name) => exampleOf(name) === undefined && !parts.includes(name) && name !== 'WebhookSubscriptionFilters');
    expect(without).toEqual([]);
  });
});

describe('names and forms in the document', () => {
  it('[API-01] every enumeration is a component with a name', () => {
    const inline = withKey('enum').filter(({ at }) => !/^\/components\/schemas\/\w+$/.test(at));
    expect(inline.map(({ at }) => at)).toEqual([]);
  });

  it('[API-01] every id says what it looks like', () => {
    const plain = withKey('properties').flatMap(({ at, schema }) =>
      Object.entries(isJson(schema['properties']) ? schema['properties'] : {})
        .filter(([name, field]) => /(^|_)id$/.test(name) && !isDescribed(field) && !isGiven(at))
        .map(([name]) => `${at}.${name}`),
    );
    expect(plain).toEqual([]);
  });

  it('[AUTH-01] personal access tokens come first', () => {
    expect(Object.keys(Object(parts['securitySchemes']))[0]).toBe('personalAccessToken');
    const orders = withKey('security').map(({ schema }) =>
      Array.isArray(schema['security']) ? schema['security'].map((one) => Object.keys(one)[0]) : [],
    );
    const late = orders.filter((order) => order.indexOf('personalAccessToken') > 0);
    expect(late).toEqual([]);
  });
});

function exampleOf(name: string): unknown {
  const component = components[name];
  return isJson(component) && Array.isArray(component['examples']) ? component['examples'][0] : undefined;
}

/** A caller's own words: that nothing has such an id is for the answer to say. */
function isGiven(at: string): boolean {
  return /Request$/.test(at);
}

function isDescribed(field: unknown): boolean {
  if (!isJson(field)) return false;
  const options = Array.isArray(field['anyOf']) ? field['anyOf'] : [];
  return (
    ['format', 'pattern'].some((key) => field[key] !== undefined) ||
    /opaque/.test(String(field['description'])) ||
    options.some(isDescribed)
  );
}
