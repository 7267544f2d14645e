import { type DestinationPolicy, destinationUrl } from '@bubbles/address-guard/destination-url.ts';
import { CREDENTIAL_REFUSALS, PLAN_REFUSALS } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { newId, newSecret } from '../domain/ids.ts';
import {
  type EventType,
  emptyToNull,
  FIRST_LIFE,
  type Filters,
  type Subscription,
  type SubscriptionQuota,
} from '../domain/subscription.ts';
import type { Access, OwnerAccess, SubscriptionChange, SubscriptionStore } from '../ports.ts';

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly access: Access;
  readonly seal: Seal;
  readonly receivers: DestinationPolicy;
  readonly quota: SubscriptionQuota;
  readonly clock: Clock;
}

export interface Owner {
  readonly userId: string;
}
type Scope = Pick<Subscription, 'teamId' | 'spaceId'>;
interface NewSubscription extends Scope, Pick<Subscription, 'url' | 'events' | 'filters'> {
  /** The ids of the request: when it is repeated it finds the subscription that it created. */
  readonly ids: Ids;
}

const missing = (): never => {
  throw new DomainError('not_found', 'No such webhook subscription.');
};

/** Every webhook endpoint checks this first, before it says whether anything exists. */
export const requirePaidAccess =
  ({ access, subscriptions }: Pick<Ports, 'access' | 'subscriptions'>) =>
  async ({ userId }: Owner): Promise<OwnerAccess> => {
    const owner = (await access.ask({ userIds: [userId], teamIds: [] })).users.get(userId);
    if (owner?.active === false) throw refusal(CREDENTIAL_REFUSALS.account_deleted);
    if (!owner?.pays) throw refusal(PLAN_REFUSALS.webhooks);
    if (owner.life > FIRST_LIFE) await subscriptions.deleteOfEarlierLives(userId, owner.life);
    return owner;
  };

export const ownSubscription = (ports: Pick<Ports, 'access' | 'subscriptions'>) => {
  const paid = requirePaidAccess(ports);
  return async (owner: Owner, id: string): Promise<Subscription> => {
    await paid(owner);
    return (await ports.subscriptions.ownedBy(owner.userId, id)) ?? missing();
  };
};

export const requireEnabled = ({ status }: Pick<Subscription, 'status'>): void => {
  if (status === 'disabled')
    throw new DomainError('out_of_order', 'The subscription is disabled: enable it first, with PATCH {"status": "active"}.');
};

const forbidden = (field: 'team_id' | 'space_id', what: 'team' | 'space') =>
  new DomainError('forbidden', `${field}: not a ${what} you can access.`);

/** The owner must have access to the team and the space; a space must be in the team that is named with it. */
const checkScope = async ({ teamId, spaceId }: Scope, { memberships }: OwnerAccess, access: Access): Promise<void> => {
  if (teamId === null && spaceId === null) return;
  const visible = memberships.filter(({ hidden }) => !hidden);
  const home = visible.find(({ channelIds }) => spaceId !== null && channelIds.includes(spaceId))?.teamId ?? null;
  const named = [...new Set([teamId, home].filter((id) => id !== null))];
  const { teams } = await access.ask({ userIds: [], teamIds: named });
  const sees = (id: string) => visible.some((membership) => membership.teamId === id) && teams.get(id)?.archived === false;
  if (teamId !== null && !sees(teamId)) throw forbidden('team_id', 'team');
  if (spaceId === null) return;
  if (home === null || !sees(home)) throw forbidden('space_id', 'space');
  if (teamId !== null && home !== teamId) throw new DomainError('invalid', 'space_id: is not in the team.');
};

const FULL = {
  user_full: ({ perUser }: SubscriptionQuota) => `You have ${perUser} webhook subscriptions, as many as a user may have: delete one first.`,
  team_full: ({ perTeam }: SubscriptionQuota) => `team_id: the team has ${perTeam} webhook subscriptions, as many as a team may have.`,
} as const;

export const createSubscription = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  return async (
    owner: Owner,
    { ids, ...request }: NewSubscription,
  ): Promise<{ readonly subscription: Subscription; readonly secret: string }> => {
    destinationUrl('url', request.url, ports.receivers);
    const access = await paid(owner);
    await checkScope(request, access, ports.access);
    const id = newId('wh', ids);
    const secret = newSecret(ids);
    const subscription: Subscription = {
      ...request,
      id,
      ownerId: owner.userId,
      ownerLife: access.life,
      filters: request.filters && emptyToNull(request.filters),
      status: 'active',
      secretSealed: ports.seal.seal(Buffer.from(secret), id),
      previousSecret: null,
      createdAt: ports.clock.now(),
      lastSuccessAt: null,
      lastFailureAt: null,
      disabledAt: null,
      disabledReason: null,
      consecutiveFailures: 0,
      countedFailureKeys: [],
      epoch: 1,
      testedAt: [],
    };
    const inserted = await ports.subscriptions.insert(subscription, ports.quota);
    if (inserted === 'inserted') return { subscription, secret };
    const made = await ports.subscriptions.ownedBy(owner.userId, id);
    if (made !== null) return { subscription: made, secret };
    if (inserted === 'id_taken') throw new Error('a random id was taken');
    throw new DomainError('limit_reached', FULL[inserted](ports.quota));
  };
};

export const listSubscriptions = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  return async (owner: Owner, page: Parameters<SubscriptionStore['listOf']>[1]): Promise<Subscription[]> => {
    await paid(owner);
    return ports.subscriptions.listOf(owner.userId, page);
  };
};

export const getSubscription = (ports: Ports) => ownSubscription(ports);

interface SubscriptionPatch {
  readonly url?: string;
  readonly events?: readonly EventType[];
  readonly filters?: Filters;
  readonly status?: 'active';
}

/** Starts a new epoch: failures and deliveries of the old one no longer count. */
const enabled = ({ epoch }: Subscription): SubscriptionChange => ({
  status: 'active',
  disabledAt: null,
  disabledReason: null,
  consecutiveFailures: 0,
  countedFailureKeys: [],
  epoch: epoch + 1,
});

export const changeSubscription = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  return async (owner: Owner, id: string, patch: SubscriptionPatch): Promise<Subscription> => {
    if (patch.url !== undefined) destinationUrl('url', patch.url, ports.receivers);
    await paid(owner);
    const { url, events, filters, status } = patch;
    const changed = await ports.subscriptions.update(owner.userId, id, (before) => ({
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events }),
      ...(filters === undefined ? {} : { filters: emptyToNull(filters) }),
      ...(status === 'active' && before.status === 'disabled' ? enabled(before) : {}),
    }));
    return changed ?? missing();
  };
};

/** No attempt starts after it has returned: each one reads its subscription first. */
export const deleteSubscription = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  return async (owner: Owner, id: string): Promise<void> => {
    await paid(owner);
    if (!(await ports.subscriptions.delete(owner.userId, id))) missing();
  };
};

interface Rotation {
  readonly id: string;
  /** How long the old secret also signs. Secrets before it no longer do. */
  readonly overlapSeconds: number;
  /** The ids of the request: when it is repeated it finds the secret that it created. */
  readonly ids: Ids;
}

export const rotateSecret = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  return async (
    owner: Owner,
    { id, overlapSeconds, ids }: Rotation,
  ): Promise<{ readonly secret: string; readonly subscription: Subscription }> => {
    await paid(owner);
    const secret = newSecret(ids);
    const until = new Date(ports.clock.now().getTime() + overlapSeconds * 1000);
    const rotated = ({ secretSealed }: Subscription): SubscriptionChange => {
      if (ports.seal.unseal(secretSealed, id).toString() === secret) return {};
      const previousSecret = overlapSeconds === 0 ? null : { sealed: secretSealed, until };
      return { secretSealed: ports.seal.seal(Buffer.from(secret), id), previousSecret };
    };
    const subscription = (await ports.subscriptions.update(owner.userId, id, rotated)) ?? missing();
    return { secret, subscription };
  };
};
