import { ReadableRequest, type ReadableResponse } from '@bubbles/contracts/internal/bubbles-query.ts';
import { AccessRequest, type TeamAccess, type UserAccess } from '@bubbles/contracts/internal/identity.ts';
import type { Call, InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { z } from 'zod';
import { type Ready, readyEvent } from './builders.ts';

export type BubbleState = Pick<z.infer<typeof ReadableResponse>['answers'][number], 'participates' | 'bubble'>;

/** A bubble that belongs to what its ready event says, and whose participant the owner is. */
export const asReady = (fields?: Partial<Ready>): BubbleState => {
  const { team_id, channel_id, author_id } = readyEvent(fields);
  return { participates: true, bubble: { team_id, channel_id, author_id } };
};

export type PeerName = 'identity' | 'bubblesQuery';

/** Identity and bubbles-query as far as the dispatcher asks them. Whoever is not known may do nothing; every bubble is as it got ready. */
export interface FakePeers {
  readonly identity: InternalClient;
  readonly bubblesQuery: InternalClient;
  /** Knows this account, active and paying if not said otherwise. */
  user(id: string, fields?: Partial<UserAccess>): void;
  /** Knows this team, on plan pro and not archived if not said otherwise. */
  team(id: string, fields?: Partial<TeamAccess>): void;
  bubble(id: string, state: BubbleState): void;
  /** A bubble got ready; what was said of it before stays. */
  ready(fields?: Partial<Ready>): void;
  setState(name: PeerName, state: 'up' | 'away'): void;
  /** How often each was asked, and of how many at most. */
  readonly asked: Readonly<Record<PeerName, { times: number; most: number }>>;
}

const unavailable = () => Promise.reject(new DomainError('unavailable', 'Nobody is there.'));

export const fakePeers = (): FakePeers => {
  const users = new Map<string, UserAccess>();
  const teams = new Map<string, TeamAccess>();
  const bubbles = new Map<string, BubbleState>();
  const away = new Set<PeerName>();
  const asked = { identity: { times: 0, most: 0 }, bubblesQuery: { times: 0, most: 0 } };

  const stranger = (id: string): UserAccess => ({ id, state: 'unknown', paid_features: false, memberships: [] });
  const noTeam = (id: string): TeamAccess => ({ id, known: false, plan: 'free', archived: true, channel_ids: [] });
  const count = (name: PeerName, of: number) => {
    asked[name].times += 1;
    asked[name].most = Math.max(asked[name].most, of);
  };
  const access = (body: unknown) => {
    const { user_ids, team_ids } = AccessRequest.parse(body);
    count('identity', user_ids.length);
    return { users: user_ids.map((id) => users.get(id) ?? stranger(id)), teams: team_ids.map((id) => teams.get(id) ?? noTeam(id)) };
  };
  const readable = (body: unknown) => {
    const { pairs } = ReadableRequest.parse(body);
    count('bubblesQuery', pairs.length);
    return { answers: pairs.map((pair) => ({ ...pair, ...(bubbles.get(pair.bubble_id) ?? asReady()) })) };
  };
  const client = (name: PeerName, path: string, answer: (body: unknown) => unknown): InternalClient => ({
    get: unavailable,
    send: unavailable,
    async post<T>(asking: string, { body, schema }: Call<T> & { readonly body: unknown }) {
      if (asking !== path || away.has(name)) return unavailable();
      await Promise.resolve();
      return schema.parse(answer(body));
    },
    close: () => Promise.resolve(),
  });

  return {
    identity: client('identity', '/internal/v1/access', access),
    bubblesQuery: client('bubblesQuery', '/internal/v1/readable', readable),
    asked,
    user(id, fields) {
      users.set(id, { id, state: 'active', paid_features: true, memberships: [], ...fields });
    },
    team(id, fields) {
      teams.set(id, { id, known: true, plan: 'pro', archived: false, channel_ids: [], ...fields });
    },
    bubble: (id, state) => bubbles.set(id, state),
    ready(fields) {
      const { id } = readyEvent(fields).bubble;
      if (!bubbles.has(id)) bubbles.set(id, asReady(fields));
    },
    setState(name, state) {
      if (state === 'away') away.add(name);
      else away.delete(name);
    },
  };
};
