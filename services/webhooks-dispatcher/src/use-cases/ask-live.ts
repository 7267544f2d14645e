import type { CancelReason, Delivery } from '../domain/delivery.ts';
import { liveRefusal } from '../domain/gate.ts';
import type { Access, EventStore, Readability, Reading } from '../ports.ts';

interface Ports {
  readonly access: Access;
  readonly readability: Readability;
  readonly events: EventStore;
}

/** What was learnt of a delivery before its attempt. */
export type Asked = { readonly refusal: CancelReason } | { readonly refusal: null; readonly body: Uint8Array };

/** Of the deliveries of one batch; those of which somebody could not be asked are not in it. */
export type Answers = ReadonlyMap<string, Asked>;

/** Identity and bubbles-query are asked once for the whole batch, and the frozen bodies are read with it. `onAway` hears why some are without an answer. */
export async function askLive(
  { access, readability, events }: Ports,
  claimed: readonly Delivery[],
  onAway: (error: unknown) => void,
): Promise<Answers> {
  const withBubble = claimed.flatMap(({ id, ownerId, bubble }) => (bubble === null ? [] : [{ id, ownerId, bubble }]));
  const teamIds = [...new Set(withBubble.flatMap(({ bubble }) => bubble.teamId ?? []))];
  const userIds = [...new Set(claimed.map(({ ownerId }) => ownerId))];
  const pairs = withBubble.map(({ ownerId, bubble }) => ({ userId: ownerId, bubbleId: bubble.id }));
  const away = (error: unknown): null => {
    onAway(error);
    return null;
  };
  const [live, readings, bodies] = await Promise.all([
    access.ask({ userIds, teamIds }).catch(away),
    pairs.length === 0 ? [] : readability.ask(pairs).catch(away),
    events.bodies([...new Set(claimed.map(({ eventId }) => eventId))]).catch(away),
  ]);
  const readingOf = new Map<string, Reading>(withBubble.flatMap(({ id }, n) => (readings?.[n] ? [[id, readings[n]]] : [])));

  const asked = (delivery: Delivery): Asked | null => {
    const reading = readingOf.get(delivery.id) ?? null;
    if (live === null || bodies === null || (delivery.bubble !== null && reading === null)) return null;
    const owner = live.users.get(delivery.ownerId);
    const teamId = delivery.bubble?.teamId ?? null;
    const team = teamId === null ? null : live.teams.get(teamId);
    if (owner === undefined || team === undefined) return null;
    const refusal = liveRefusal(delivery, { ownerActive: owner.active, ownerPays: owner.pays, team }, reading);
    if (refusal !== null) return { refusal };
    const body = bodies.get(delivery.eventId);
    return body === undefined ? { refusal: 'event_expired' } : { refusal: null, body };
  };
  return new Map(
    claimed.flatMap((delivery) => {
      const answer = asked(delivery);
      return answer === null ? [] : [[delivery.id, answer] as const];
    }),
  );
}
