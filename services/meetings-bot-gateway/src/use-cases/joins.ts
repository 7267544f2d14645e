import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import {
  CANCELLED,
  ENDED_BY_OPERATOR,
  ended,
  IDEMPOTENCY_WINDOW_MS,
  type Join,
  newJoin,
  newJoinId,
  runningKeyOf,
  withRequester,
} from '../domain/join.ts';
import { type MeetingLink, parseMeetingLink } from '../domain/meeting-link.ts';
import { type Requester, requesterId, requesterIdsUntil, requesterOf } from '../domain/requester.ts';
import type { Access, JoinAdvanced, JoinPage, JoinStore, Notetakers, Simulator } from '../ports.ts';
import { type QuotaPorts, reserveQuotas } from './quotas.ts';

export interface JoinPorts extends QuotaPorts {
  readonly joins: JoinStore;
  readonly access: Access;
  readonly notetakers: Notetakers;
  readonly joinAdvanced: JoinAdvanced;
  readonly seal: Seal;
  /** Wakes the loop that sends notetakers. */
  readonly wakeDispatch: () => void;
  /** Wakes the loop that watches notetakers and makes them leave. */
  readonly wakeWatch: () => void;
}

interface JoinRequest extends Requester {
  readonly meetingUrl: string;
  readonly teamId: string;
  /** The ids of the request: when it is repeated it finds the join that it made. */
  readonly ids: Ids;
}

/** Guests and hidden members take part in what the team recorded, but do not record for it. */
const RECORDING_ROLES: ReadonlySet<string> = new Set(['admin', 'member']);

const readLink = (text: string): MeetingLink => {
  const link = parseMeetingLink(text);
  if ('refused' in link) throw new DomainError('invalid', link.refused);
  return link;
};

const FREE = 'free';

/** Answers whether the team's recordings are capped. */
const requireRights = async (access: Access, { userId, teamId }: JoinRequest): Promise<boolean> => {
  const { users, teams } = await access.ask({ userIds: [userId], teamIds: [teamId] });
  const user = users.get(userId);
  const membership = user?.active ? user.memberships.find((one) => one.teamId === teamId) : undefined;
  const mayRecord = membership !== undefined && !membership.hidden && RECORDING_ROLES.has(membership.role);
  const team = teams.get(teamId);
  if (!mayRecord || team?.archived !== false) throw new DomainError('forbidden', 'team_id: not a team that you may record meetings for.');
  return team.plan === FREE;
};

interface RunningJoin {
  readonly runningKey: string;
  readonly requesterId: string;
}

/** Makes them a requester of the join that runs; null when none does, or when it is over meanwhile. */
const joinRunning =
  ({ joins }: Pick<JoinPorts, 'joins'>) =>
  async ({ runningKey, requesterId: asking }: RunningJoin): Promise<Join | null> => {
    const running = await joins.running(runningKey);
    if (running === null) return null;
    const joined = await joins.update(running.id, (join) => {
      const state = withRequester(join, asking);
      return state && { state, events: [] };
    });
    return joined?.runningKey === runningKey ? joined : null;
  };

interface Charged extends RunningJoin {
  readonly id: string;
  readonly userId: string;
  readonly teamId: string;
  readonly isCapped: boolean;
}

/** Charges and stores a join; null when another one was stored meanwhile, to which nothing is charged. */
const startJoin = (ports: JoinPorts) => {
  const { joins, quotas, notetakers, joinAdvanced, seal, clock } = ports;
  const reserve = reserveQuotas(ports);
  return async ({ platform, url }: MeetingLink, { isCapped, userId, ...request }: Charged): Promise<Join | null> => {
    const { id, teamId } = request;
    const reserved = await reserve({ joinId: id, userId, teamId: isCapped ? teamId : null });
    const provider = notetakers.forPlatform(platform)?.name ?? null;
    const linkSealed = seal.seal(Buffer.from(url), id);
    const join = newJoin({ ...request, ...reserved, platform, linkSealed, provider, createdAt: clock.now() });
    if (await joins.insert(join, [joinAdvanced(join)])) return join;
    // The same request made it meanwhile and keeps the places, or another one runs now and these are given back.
    if ((await joins.get(id)) === null) await quotas.release([reserved.userQuota, reserved.teamQuota], id);
    return null;
  };
};

/**
 * The link first, then the rights, then the quotas: a bad link is one whatever the team, and who joins a running join is charged nothing. Answers the join
 * with the link as the caller may see it.
 */
export const requestJoin = (ports: JoinPorts) => {
  const { joins, access, wakeDispatch } = ports;
  const [running, start] = [joinRunning(ports), startJoin(ports)];
  return async (request: JoinRequest): Promise<{ readonly join: Join; readonly link: MeetingLink }> => {
    const link = readLink(request.meetingUrl);
    const isCapped = await requireRights(access, request);
    const { userId, teamId } = request;
    const asking = { requesterId: requesterId(request), runningKey: runningKeyOf(teamId, link.key) };
    const charged = { ...asking, id: newJoinId(request.ids), userId, teamId, isCapped };
    for (;;) {
      const found = (await joins.ofRequester(charged.requesterId, charged.id)) ?? (await running(charged)) ?? (await start(link, charged));
      if (found === null) continue;
      wakeDispatch();
      return { join: found, link };
    }
  };
};

const noSuchJoin = () => new DomainError('not_found', 'No such meeting join.');

/** One of another user's and an unknown one are refused alike. */
export const readJoin =
  ({ joins }: Pick<JoinPorts, 'joins'>) =>
  async (requester: Requester, id: string): Promise<Join> => {
    const join = await joins.ofRequester(requesterId(requester), id);
    if (join === null) throw noSuchJoin();
    return join;
  };

export const listJoins =
  ({ joins }: Pick<JoinPorts, 'joins'>) =>
  (requester: Requester, page: JoinPage): Promise<readonly Join[]> =>
    joins.listOf([requesterId(requester)], page);

/** Every requester that the account has been. */
const livesOf = async (access: Access, userId: string): Promise<readonly string[]> => {
  const user = (await access.ask({ userIds: [userId] })).users.get(userId);
  if (user === undefined) throw new DomainError('unavailable', 'Incomplete answer from identity.');
  return requesterIdsUntil(user.life, userId);
};

/** What an operator asks for. */
export const listJoinsOfAccount =
  ({ joins, access }: Pick<JoinPorts, 'joins' | 'access'>) =>
  async (userId: string, page: JoinPage): Promise<readonly Join[]> =>
    joins.listOf(await livesOf(access, userId), page);

type EndPorts = Pick<JoinPorts, 'joins' | 'clock' | 'joinAdvanced' | 'wakeWatch'>;

/** A requester ends it for all of them. The join is over when this has answered; its notetaker leaves after that. */
export const endJoin = (ports: EndPorts) => {
  const { joins, clock, joinAdvanced, wakeWatch } = ports;
  const read = readJoin(ports);
  return async (requester: Requester, id: string): Promise<void> => {
    await read(requester, id);
    await joins.update(id, (join) => {
      const state = ended(join, CANCELLED, clock.now());
      return state && { state, events: [joinAdvanced(state)] };
    });
    wakeWatch();
  };
};

/** Ends a join for an operator, for all requesters. A finished join stays unchanged. */
export const endAnyJoin =
  ({ joins, clock, joinAdvanced, wakeWatch, log }: EndPorts & { readonly log: Log }) =>
  async (id: string): Promise<Join> => {
    const join = await joins.update(id, (before) => {
      const state = ended(before, ENDED_BY_OPERATOR, clock.now());
      return state && { state, events: [joinAdvanced(state)] };
    });
    if (join === null) throw noSuchJoin();
    log.info('join ended by an operator', { joinId: id, status: join.status });
    wakeWatch();
    return join;
  };

const STUCK_LISTED = 200;
export const listStuckJoins =
  ({ joins, clock }: Pick<JoinPorts, 'joins' | 'clock'>) =>
  (): Promise<readonly Join[]> =>
    joins.stuck(clock.now(), STUCK_LISTED);

/** Which of the joins somebody still asks for: an account that is active, in the life in which it asked. */
const stillWanted = async (access: Access, joins: readonly Join[]): Promise<ReadonlySet<string>> => {
  const userIds = [...new Set(joins.flatMap(({ requesterIds }) => requesterIds.map((id) => requesterOf(id).userId)))];
  const { users } = await access.ask({ userIds });
  const isThere = (id: string): boolean => {
    const { userId, life } = requesterOf(id);
    const user = users.get(userId);
    return user?.active === true && user.life === life;
  };
  return new Set(joins.filter(({ requesterIds }) => requesterIds.some(isThere)).map(({ id }) => id));
};

/** Joins of an account that was closed end, unless somebody else asks for them too. What it asked for in a later life goes on. */
export const endJoinsOf =
  ({ joins, access, clock, joinAdvanced, wakeWatch }: EndPorts & Pick<JoinPorts, 'access'>) =>
  async (userId: string): Promise<void> => {
    const running = await joins.runningOf(await livesOf(access, userId));
    if (running.length === 0) return;
    const wanted = await stillWanted(access, running);
    for (const { id } of running) {
      await joins.update(id, (join) => {
        const state = wanted.has(id) ? null : ended(join, CANCELLED, clock.now());
        return state && { state, events: [joinAdvanced(state)] };
      });
    }
    wakeWatch();
  };

/** Erases the due links of joins and of their simulated runs. */
export const eraseLinks =
  ({ joins, simulator, clock }: Pick<JoinPorts, 'joins' | 'clock'> & { readonly simulator: Simulator | null }) =>
  async (): Promise<void> => {
    const now = clock.now();
    await joins.eraseLinks(now);
    await simulator?.eraseLinks(new Date(now.getTime() - IDEMPOTENCY_WINDOW_MS), async (joinIds) => {
      const known = await joins.byIds(joinIds);
      return new Set(joinIds.filter((id) => !known.get(id)?.linkSealed));
    });
  };
