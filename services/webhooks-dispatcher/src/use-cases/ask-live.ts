import type { CancelReason, Delivery } from '../domain/delivery.ts';
import { liveRefusal } from '../domain/gate.ts';
import type { Access, EventStore, Readability } from '../ports.ts';

interface Ports {
  readonly access: Access;
  readonly readability: Readability;
  readonly events: EventStore;
}

/** What was asked of the owners of a batch before its attempts begin. */
export interface Asked {
  readonly refusal: CancelReason | null;
  readonly body: Uint8Array;
}

/** Identity and bubbles-query are asked once for the whole batch, and the frozen bodies are read with it. */
export async function askLive({ access, readability, events }: Ports, claimed: readonly Delivery[]): Promise<Map<string, Asked>> {
  const withBubble = claimed.flatMap(({ id, ownerId, bubble }) => (bubble === null ? [] : [{ id, ownerId, bubble }]));
  const teamIds = [...new Set(withBubble.flatMap(({ bubble }) => (bubble.teamId === null ? [] : [bubble.teamId])))];
  const userIds = [...new Set(claimed.map(({ ownerId }) => ownerId))];
  const [{ users, teams }, readings, bodies] = await Promise.all([
    access.ask({ userIds, teamIds }),
    withBubble.length === 0 ? [] : readability.ask(withBubble.map(({ ownerId, bubble }) => ({ userId: ownerId, bubbleId: bubble.id }))),
    events.bodies([...new Set(claimed.map(({ eventId }) => eventId))]),
  ]);
  const readingOf = new Map(withBubble.map(({ id }, n) => [id, readings[n] ?? null]));
  return new Map(
    claimed.map((delivery) => {
      const owner = users.get(delivery.ownerId);
      const team = delivery.bubble?.teamId ? (teams.get(delivery.bubble.teamId) ?? null) : null;
      const live = { ownerActive: owner?.active ?? false, ownerPays: owner?.pays ?? false, team };
      const body = bodies.get(delivery.eventId);
      if (body === undefined) throw new Error('a delivery has no event');
      return [delivery.id, { refusal: liveRefusal(delivery, live, readingOf.get(delivery.id) ?? null), body }];
    }),
  );
}
