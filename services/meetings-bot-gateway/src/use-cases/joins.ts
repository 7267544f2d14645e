import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { CANCELLED, ENDED_BY_OPERATOR, ended, type Join, newJoin, newJoinId, runningKeyOf, withRequester } from '../domain/join.ts';
import { type MeetingLink, parseMeetingLink } from '../domain/meeting-link.ts';
import type { Access, JoinAdvanced, JoinPage, JoinStore, Notetakers } from '../ports.ts';
import { type QuotaPorts, reserveQuotas } from './quotas.ts';

export interface JoinPorts extends QuotaPorts {
  readonly joins: JoinStore;
  readonly access: Access;
  readonly notetakers: Notetakers;
  readonly joinAdvanced: JoinAdvanced;
  readonly seal: Seal;
  /** Wakes who sends notetakers. */
  readonly wakeDispatch: () => void;
  /** Wakes who watches them, and lets them leave. */
  readonly wakeWatch: () => void;
}

interface JoinRequest {
  readonly userId: string;
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
  readonly userId: string;
}

/** Makes the user a requester of the join that runs; null when none does, or when it is over meanwhile. */
const joinRunning =
  ({ joins }: Pick<JoinPorts, 'joins'>) =>
  async ({ runningKey, userId }: RunningJoin): Promise<Join | null> => {
    const running = await joins.running(runningKey);
    if (running === null) return null;
    const joined = await joins.update(running.id, (join) => {
      const state = withRequester(join, userId);
      return state && { state, events: [] };
    });
    return joined?.runningKey === runningKey ? joined : null;
  };

interface Charged extends RunningJoin {
  readonly id: string;
  readonly teamId: string;
  readonly isCapped: boolean;
}

/** Charges and stores a join; null when another one was stored meanwhile, to which nothing is charged. */
const startJoin = (ports: JoinPorts) => {
  const { joins, quotas, notetakers, joinAdvanced, seal, clock } = ports;
  const reserve = reserveQuotas(ports);
  return async ({ platform, url }: MeetingLink, { isCapped, ...request }: Charged): Promise<Join | null> => {
    const { id, userId, teamId } = request;
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
    const charged = { id: newJoinId(request.ids), userId, teamId, runningKey: runningKeyOf(teamId, link.key), isCapped };
    for (;;) {
      const found = (await joins.ofRequester(userId, charged.id)) ?? (await running(charged)) ?? (await start(link, charged));
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
  async (userId: string, id: string): Promise<Join> => {
    const join = await joins.ofRequester(userId, id);
    if (join === null) throw noSuchJoin();
    return join;
  };

export const listJoins =
  ({ joins }: Pick<JoinPorts, 'joins'>) =>
  (userId: string, page: JoinPage): Promise<readonly Join[]> =>
    joins.listOf(userId, page);

type EndPorts = Pick<JoinPorts, 'joins' | 'clock' | 'joinAdvanced' | 'wakeWatch'>;

/** A requester ends it for all of them. The join is over when this has answered; its notetaker leaves after that. */
export const endJoin = (ports: EndPorts) => {
  const { joins, clock, joinAdvanced, wakeWatch } = ports;
  const read = readJoin(ports);
  return async (userId: string, id: string): Promise<void> => {
    await read(userId, id);
    await joins.update(id, (join) => {
      const state = ended(join, CANCELLED, clock.now());
      return state && { state, events: [joinAdvanced(state)] };
    });
    wakeWatch();
  };
};

/** What an operator asks for, whoever the requesters are. One that is over stays as it is. */
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

/** Joins of an account that was closed end, unless somebody else asked for them too. */
export const endJoinsOf =
  ({ joins, clock, joinAdvanced, wakeWatch }: EndPorts) =>
  async (userId: string): Promise<void> => {
    for (const { id } of await joins.runningOf(userId)) {
      await joins.update(id, (join) => {
        const state = join.requesterIds.length === 1 ? ended(join, CANCELLED, clock.now()) : null;
        return state && { state, events: [joinAdvanced(state)] };
      });
    }
    wakeWatch();
  };

export const eraseLinks =
  ({ joins, clock }: Pick<JoinPorts, 'joins' | 'clock'>) =>
  (): Promise<void> =>
    joins.eraseLinks(clock.now());
