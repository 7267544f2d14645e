import type { CancelReason, Delivery } from '../domain/delivery.ts';
import { asOfNow, type LiveReading, liveRefusal } from '../domain/eligibility.ts';
import type { ReadyBubble } from '../domain/subscription.ts';
import type { Access, ClaimedBatch, EventStore, Readability } from '../ports.ts';

interface Ports {
  readonly access: Access;
  readonly readability: Readability;
  readonly events: EventStore;
}

/** Whether a delivery may be attempted, and with what. */
type Eligibility = { readonly refusal: CancelReason } | Eligible;
export interface Eligible {
  readonly refusal: null;
  readonly body: Uint8Array;
  /** The current bubble; null for a test. */
  readonly bubble: ReadyBubble | null;
  /** Life of the owner's account. */
  readonly ownerLife: number;
}

type Known = Awaited<ReturnType<Access['ask']>>;

const teamsOf = (bubbles: readonly (ReadyBubble | null)[]): string[] => [...new Set(bubbles.flatMap((bubble) => bubble?.teamId ?? []))];

/** Asks about the teams that are not known yet: bubbles have moved to them since they became ready. */
const askTeams = async (access: Access, bubbles: readonly ReadyBubble[], known: Known['teams']) => {
  const teamIds = teamsOf(bubbles).filter((id) => !known.has(id));
  if (teamIds.length === 0) return known;
  const { teams } = await access.ask({ userIds: [], teamIds });
  return new Map([...known, ...teams]);
};

interface CurrentBubble {
  readonly reading: LiveReading;
  /** The current bubble. */
  readonly bubble: ReadyBubble;
}

/** What bubbles-query says about the bubbles of the deliveries, by delivery id. */
const askReadings = async (readability: Readability, claimed: readonly Delivery[]): Promise<ReadonlyMap<string, CurrentBubble>> => {
  const asked = claimed.flatMap(({ id, ownerId, bubble }) => (bubble === null ? [] : [{ id, ownerId, bubble }]));
  if (asked.length === 0) return new Map();
  const readings = await readability.ask(asked.map(({ ownerId, bubble }) => ({ userId: ownerId, bubbleId: bubble.id })));
  return new Map(
    readings.flatMap((reading, n) => (asked[n] ? [[asked[n].id, { reading, bubble: asOfNow(asked[n].bubble, reading) }]] : [])),
  );
};

const judge = ({ bubble, ownerId }: Delivery, current: CurrentBubble | undefined, { users, teams }: Known) => {
  const owner = users.get(ownerId);
  const teamId = current?.bubble.teamId ?? null;
  const team = teamId === null ? null : teams.get(teamId);
  if (owner === undefined || team === undefined || (bubble !== null && current === undefined)) return null;
  return {
    ownerLife: owner.life,
    refusal: liveRefusal({ ownerActive: owner.active, ownerPays: owner.pays, team }, current?.reading ?? null),
  };
};

const readBodies = async (events: EventStore, { claimed, bodies }: ClaimedBatch) => {
  const ids = [...new Set(claimed.map(({ eventId }) => eventId))].filter((id) => !bodies.has(id));
  return ids.length === 0 ? bodies : new Map([...bodies, ...(await events.bodies(ids))]);
};

/**
 * What identity and bubbles-query say of each delivery of the batch, by id, with its frozen body. Both are asked once for all; `onAway` hears which error
 * leaves deliveries out.
 */
export async function checkEligibility(
  { access, readability, events }: Ports,
  { claimed, bodies: known }: ClaimedBatch,
  onAway: (error: unknown) => void,
): Promise<ReadonlyMap<string, Eligibility>> {
  const userIds = [...new Set(claimed.map(({ ownerId }) => ownerId))];
  const teamIds = teamsOf(claimed.map(({ bubble }) => bubble));
  const away = (error: unknown): null => {
    onAway(error);
    return null;
  };
  const [live, readings, bodies] = await Promise.all([
    access.ask({ userIds, teamIds }).catch(away),
    askReadings(readability, claimed).catch(away),
    readBodies(events, { claimed, bodies: known }).catch(away),
  ]);
  if (live === null || bodies === null) return new Map();
  const current = readings ?? new Map<string, CurrentBubble>();
  const teams = await askTeams(
    access,
    [...current.values()].map(({ bubble }) => bubble),
    live.teams,
  ).catch(away);
  const eligibilityOf = (delivery: Delivery): Eligibility | null => {
    const bubble = current.get(delivery.id);
    const judged = judge(delivery, bubble, { ...live, teams: teams ?? live.teams });
    if (judged?.refusal !== null) return judged && { refusal: judged.refusal };
    const body = bodies.get(delivery.eventId);
    if (body === undefined) return { refusal: 'event_expired' };
    return body === null
      ? { refusal: 'bubble_not_readable' }
      : { refusal: null, body, bubble: bubble?.bubble ?? null, ownerLife: judged.ownerLife };
  };
  return new Map(
    claimed.flatMap((delivery) => {
      const eligibility = eligibilityOf(delivery);
      return eligibility === null ? [] : [[delivery.id, eligibility] as const];
    }),
  );
}
