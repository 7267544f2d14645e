import { describe, expect, it } from '@jest/globals';
import { type Fragment, readFragment } from './fragment.ts';
import { acceptFragments, effective, newestOf, type SeenFragment } from './ownership.ts';

const fragmentOf = (service: string, paths: readonly string[]): Fragment => {
  const document = {
    openapi: '3.1.0',
    paths: Object.fromEntries(paths.map((path) => [path, { get: { operationId: `${service} ${path}`, 'x-gw-auth': 'pat' } }])),
  };
  const fragment = readFragment(service, document);
  if ('code' in fragment) throw new Error(fragment.code);
  return fragment;
};
const aSeenFragment = (service: string, paths: readonly string[], overrides: Partial<SeenFragment> = {}): SeenFragment => ({
  hash: paths.join(),
  fragment: fragmentOf(service, paths),
  source: 'live',
  firstSeen: 0,
  lastSeen: 0,
  ...overrides,
});

const prefixes = { a: ['/a', '/shared'], b: ['/b', '/shared/b'], own: ['/own'] };
const own = fragmentOf('own', ['/own']);
const accept = (candidates: readonly SeenFragment[], before: readonly SeenFragment[] = []) =>
  acceptFragments({ own, candidates, before, prefixes });

describe('which fragments count', () => {
  it('[API-01] all that replicas showed in the last minute: a rollout has two versions', () => {
    const versions = [
      aSeenFragment('a', ['/a'], { lastSeen: 100 }),
      aSeenFragment('a', ['/a/new'], { firstSeen: 50_000, lastSeen: 50_000 }),
    ];
    expect(effective(versions, 60_000)).toEqual(versions);
    expect(effective(versions, 60_101)).toEqual(versions.slice(1));
  });

  it('[API-01] the last one for as long as nobody shows another', () => {
    const versions = [aSeenFragment('a', ['/a'], { lastSeen: 100 }), aSeenFragment('a', ['/a/old'], { lastSeen: 50 })];
    expect(effective(versions, 10_000_000)).toEqual(versions.slice(0, 1));
  });

  it('[API-01] what came with the image only until a replica has spoken', () => {
    const baked = aSeenFragment('a', ['/a'], { source: 'baked' });
    expect(effective([baked], 0)).toEqual([baked]);
    const live = aSeenFragment('a', ['/a/live']);
    expect(effective([baked, live], 0)).toEqual([live]);
  });
});

describe('which fragments are accepted', () => {
  it.each([
    ['foreign_prefix', aSeenFragment('b', ['/a/x'])],
    ['foreign_prefix', aSeenFragment('b', ['/elsewhere'])],
    ['foreign_prefix', aSeenFragment('a', ['/shared/b/x'])],
    ['foreign_prefix', aSeenFragment('a', ['/own'])],
  ])('[API-01] one that claims what is not its own is not (%s)', (code, candidate) => {
    expect(accept([candidate])).toMatchObject({ accepted: [], refused: [{ fault: { code } }] });
  });

  it('[API-01] a refused one leaves the last good one of its service, and the other services alone', () => {
    const good = aSeenFragment('a', ['/a']);
    const other = aSeenFragment('b', ['/b']);
    const bad = aSeenFragment('a', ['/a/new', '/b/stolen'], { firstSeen: 10 });
    const { accepted, refused } = accept([bad, other], [good, other]);
    expect(new Set(accepted)).toEqual(new Set([good, other]));
    expect(refused.map(({ seen }) => seen)).toEqual([bad]);
  });

  it('[API-01] the newest of a service is what the document shows', () => {
    const old = aSeenFragment('a', ['/a']);
    const young = aSeenFragment('a', ['/a/new'], { firstSeen: 10 });
    expect(newestOf(accept([young, old]).accepted)).toEqual([young]);
  });
});
