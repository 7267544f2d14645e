import { type OutgoingEvent, outgoing } from '@bubbles/bus/outgoing.ts';
import {
  BubbleChangedV1,
  BubbleCreatedV1,
  BubbleRemovedV1,
  MediaProcessedV1,
  NotesGeneratedV1,
  TranscriptCompletedV1,
} from '@bubbles/contracts/events/recording-events.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { AggregateStore } from '@bubbles/store/aggregates.ts';
import type { z } from 'zod';
import { type Facts, factsAt, furthest, type Recording } from './facts.ts';
import type { BubbleFields, BubblePatch, NewBubble, Stage, StageMove } from './fields.ts';
import type { People } from './people.ts';

type Group = keyof Facts;

/** A recording as the pipeline stores it, with the revision that each group of facts was last sent with. */
export interface PipelineBubble extends Recording {
  readonly stage: Stage;
  readonly revisions: Readonly<Record<Group, number>>;
  readonly removed: boolean;
}

export interface Recordings {
  create(body: z.infer<typeof NewBubble>): Promise<string>;
  move(id: string, body: z.infer<typeof StageMove>): Promise<void>;
  patch(id: string, body: z.infer<typeof BubblePatch>): Promise<void>;
  remove(id: string): Promise<void>;
  /** A recording whose details, media and transcript somebody else has told: it gets its notes. Nothing happens when it is known. */
  adopt(id: string, fields: BubbleFields): Promise<void>;
  exists(id: string): Promise<boolean>;
}

interface Ports {
  readonly store: AggregateStore<PipelineBubble>;
  readonly people: People;
  readonly clock: Clock;
  readonly ids: Ids;
}

const GROUPS = { media: MediaProcessedV1, transcript: TranscriptCompletedV1, notes: NotesGeneratedV1 } as const;
const NOTHING_SENT = { details: 0, media: 0, transcript: 0, notes: 0 } as const;

/** An event for each group that differs between `before` and `next`, at its next revision. A group that was sent is never taken back. */
function restate(
  before: Facts | null,
  next: Facts,
  bubble: PipelineBubble,
): { readonly bubble: PipelineBubble; readonly events: OutgoingEvent[] } {
  const events: OutgoingEvent[] = [];
  const revisions = { ...bubble.revisions };
  const isNews = (group: Group) => next[group] !== null && JSON.stringify(next[group]) !== JSON.stringify(before?.[group] ?? null);
  if (isNews('details')) {
    const definition = revisions.details === 0 ? BubbleCreatedV1 : BubbleChangedV1;
    revisions.details += 1;
    events.push(outgoing(definition, { ...next.details, revision: revisions.details }));
  }
  for (const group of ['media', 'transcript', 'notes'] as const) {
    if (!isNews(group)) continue;
    revisions[group] += 1;
    events.push(outgoing(GROUPS[group], { ...next[group], revision: revisions[group] }));
  }
  return { bubble: { ...bubble, revisions }, events };
}

const merged = (bubble: PipelineBubble, fields: Partial<BubbleFields>): BubbleFields => ({ ...bubble.fields, ...fields });

/** The people and the channel that the fields name. A call that does not name them again keeps them as they were looked up before. */
const namedBy = (people: People) => async (fields: BubbleFields, given: Partial<BubbleFields>, before: PipelineBubble | null) => {
  const names = given.participant_ids !== undefined || given.external_participants !== undefined || before === null;
  const participants = names ? await people.participants(fields) : before.participants;
  const author = names || given.author_id !== undefined ? await people.author(fields) : before.author;
  const channelName =
    before === null || given.channel_id !== undefined || given.team_id !== undefined
      ? await people.channelName(fields)
      : before.channelName;
  return { participants, author, channelName };
};

export function recordings({ store, people, clock, ids }: Ports): Recordings {
  const named = namedBy(people);

  const change = async (id: string, given: Partial<BubbleFields>, to: Stage) => {
    const current = await store.get(id);
    if (current === null || current.removed) throw new DomainError('not_found', 'No such bubble.');
    const who = await named(merged(current, given), given, current);
    await store.update(id, (bubble) => {
      if (bubble.removed) return null;
      const stage = furthest(bubble.stage, to);
      const next: PipelineBubble = { ...bubble, ...who, fields: merged(bubble, given), stage };
      const stated = restate(factsAt(bubble, bubble.stage), factsAt(next, stage), next);
      return { state: stated.bubble, events: stated.events };
    });
  };

  const exists = async (id: string): Promise<boolean> => {
    const bubble = await store.get(id);
    return bubble !== null && !bubble.removed;
  };

  return {
    async create({ id = ids.uuid(), stage, ...fields }) {
      const who = await named(fields, fields, null);
      const bubble: PipelineBubble = {
        id,
        fields,
        ...who,
        madeAt: clock.now().toISOString(),
        stage,
        revisions: NOTHING_SENT,
        removed: false,
      };
      const stated = restate(null, factsAt(bubble, stage), bubble);
      if (!(await store.insert(stated.bubble, stated.events))) throw new DomainError('invalid', 'id: already used by another bubble.');
      return id;
    },
    move: (id, { stage, ...fields }) => change(id, fields, stage),
    patch: (id, { stage, ...fields }) => change(id, fields, stage),
    async remove(id) {
      if (!(await exists(id))) throw new DomainError('not_found', 'No such bubble.');
      const removed = await store.update(id, (bubble) => {
        if (bubble.removed) return null;
        const event = outgoing(BubbleRemovedV1, { bubble_id: id, revision: bubble.revisions.details + 1 });
        return { state: { ...bubble, removed: true }, events: [event] };
      });
      if (removed === null) throw new DomainError('not_found', 'No such bubble.');
    },
    async adopt(id, fields) {
      const who = await named(fields, fields, null);
      const madeAt = clock.now().toISOString();
      const bubble: PipelineBubble = { id, fields, ...who, madeAt, stage: 'ready', revisions: NOTHING_SENT, removed: false };
      const facts = factsAt(bubble, 'ready');
      const stated = restate({ ...facts, notes: null }, facts, bubble);
      await store.insert(stated.bubble, stated.events);
    },
    exists,
  };
}
