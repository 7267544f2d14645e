import { randomUUID } from 'node:crypto';
import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import { type Call, CallRefused, type InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';

interface FakeTeam {
  readonly id: string;
  readonly name: string;
  domain: string | null;
  isDiscoverable: boolean;
  readonly memberIds: Set<string>;
  readonly flowId: string | null;
}

export interface FakeIdentity {
  readonly client: InternalClient;
  /** By their addresses. */
  readonly accounts: Map<string, { readonly id: string; state: 'active' | 'disabled' }>;
  readonly teams: Map<string, FakeTeam>;
  /** The paths that were asked. */
  readonly asked: string[];
  isAway: boolean;
  /** A team whose domain's people may join it. */
  team(name: string, domain: string | null, isDiscoverable?: boolean): FakeTeam;
}

const TRIAL_ENDS_AT = '2026-03-15T12:00:00.000Z';

/** Refuses as identity does, by the client that tells it. */
const refuse = (type: string): never => {
  const cause = new CallRefused(403, { type, message: 'No.', retryAfterSeconds: null, isOverload: false });
  throw new DomainError('internal', 'identity-and-oauth could not be asked.', { cause });
};

/** Keeps accounts and teams as identity promises to: each call but the first answers the same when it is asked again. */
export const fakeIdentity = (): FakeIdentity => {
  const accounts: FakeIdentity['accounts'] = new Map();
  const teams: FakeIdentity['teams'] = new Map();
  const { account, join, create, domainJoin } = SIGNUP_CALLS;
  const isJoinable = (team: FakeTeam, domain: string | null): boolean =>
    team.isDiscoverable && team.domain !== null && team.domain === domain;
  const accountAt = (email: string): string => {
    const known = accounts.get(email);
    if (known?.state === 'disabled') return refuse('account_deleted');
    const id = known?.id ?? randomUUID();
    accounts.set(email, { id, state: 'active' });
    return id;
  };
  const add = (team: Omit<FakeTeam, 'id' | 'memberIds'>): FakeTeam => {
    const added = { ...team, id: randomUUID(), memberIds: new Set<string>() };
    teams.set(added.id, added);
    return added;
  };
  const handlers: Readonly<Record<string, (body: unknown) => unknown>> = {
    [account.path]: (body) => {
      const { email, domain } = account.request.parse(body);
      const workspaces = [...teams.values()].filter((team) => isJoinable(team, domain));
      return { account: accounts.get(email) ?? null, workspaces: workspaces.map(({ id, name }) => ({ id, name })) };
    },
    [join.path]: (body) => {
      const { email, domain, team_id } = join.request.parse(body);
      const team = teams.get(team_id);
      if (accounts.get(email)?.state !== 'disabled' && (team === undefined || !isJoinable(team, domain))) return refuse('forbidden');
      const user_id = accountAt(email);
      team?.memberIds.add(user_id);
      return { user_id, team_id };
    },
    [create.path]: (body) => {
      const { flow_id: flowId, email, name } = create.request.parse(body);
      const user_id = accountAt(email);
      const made = [...teams.values()].find((team) => team.flowId === flowId) ?? add({ name, domain: null, isDiscoverable: false, flowId });
      made.memberIds.add(user_id);
      return { user_id, team_id: made.id, trial_ends_at: TRIAL_ENDS_AT };
    },
    [domainJoin.path]: (body) => {
      const { flow_id: flowId, email, domain } = domainJoin.request.parse(body);
      const id = accountAt(email);
      const made = [...teams.values()].find((team) => team.flowId === flowId && team.memberIds.has(id));
      if (made === undefined) return refuse('forbidden');
      made.domain = domain;
      made.isDiscoverable = true;
      return { team_id: made.id, domain };
    },
  };
  const away = () => Promise.reject(new DomainError('unavailable', 'Nobody is there.'));
  const fake: Omit<FakeIdentity, 'client'> = {
    accounts,
    teams,
    asked: [],
    isAway: false,
    team: (name, domain, isDiscoverable = true) => add({ name, domain, isDiscoverable, flowId: null }),
  };
  const client: InternalClient = {
    get: away,
    send: away,
    async post<T>(path: string, { body, schema }: Call<T> & { readonly body: unknown }) {
      fake.asked.push(path);
      await Promise.resolve();
      if (fake.isAway) return away();
      return schema.parse(handlers[path]?.(body));
    },
    close: () => Promise.resolve(),
  };
  return Object.assign(fake, { client });
};
