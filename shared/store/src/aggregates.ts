import type { CloudEvent } from '@bubbles/bus/bus.ts';
import { type OutgoingEvent, type Stamper, stamp } from '@bubbles/bus/outgoing.ts';
import { type Collection, type Doc, type IndexSpec, storeRefusal, storeUnavailable } from './collection.ts';

/** What each aggregate's document has beside the state: the events of its writes that the broker has not confirmed yet. */
export interface OutboxDoc extends Doc {
  readonly version: number;
  readonly outbox: readonly CloudEvent[];
  /** When the oldest of them was written; absent when there is none, so that a sparse index holds waiting aggregates only. */
  readonly outboxAt?: Date;
  /** The lease of the relay at work on it. */
  readonly relayUntil: Date;
  readonly relayBy: string | null;
}

/** Every collection of aggregates needs it. */
export const OUTBOX_INDEX: IndexSpec = { name: 'outbox_at', keys: { outboxAt: 1 }, sparse: true };

/** The lease of an aggregate that nobody relays. */
export const UNCLAIMED = { relayUntil: new Date(0), relayBy: null } as const;

/** The state of an aggregate. It has no field of the names that `OutboxDoc` uses. */
interface AggregateState {
  readonly id: string;
  readonly version?: never;
  readonly outbox?: never;
  readonly outboxAt?: never;
  readonly relayUntil?: never;
  readonly relayBy?: never;
}

export type Stored<S extends AggregateState> = Omit<S, keyof AggregateState> & OutboxDoc;

/** A state and the events that tell of it; they are written together. */
export interface Changed<S> {
  readonly state: S;
  readonly events: readonly OutgoingEvent[];
}

export interface AggregateStore<S extends AggregateState> {
  /** False when the id or a unique key is taken. */
  insert(state: S, events?: readonly OutgoingEvent[]): Promise<boolean>;
  get(id: string): Promise<S | null>;
  /**
   * Atomic, with its events in the same write. `change` runs again when another writer won; null from it leaves the state as it is. Answers the state
   * that is then stored, null when there is no such aggregate.
   */
  update(id: string, change: (state: S) => Changed<S> | null): Promise<S | null>;
}

export interface AggregateStoreOptions extends Stamper {
  /** Called after a write that made events: the relay's poke. */
  readonly onCommit?: () => void;
}

/** Above it the relay is too far behind, and the write is refused. */
const MAX_OUTBOX = 100;
/** In each round of a race at least one writer wins. */
const MAX_ATTEMPTS = 256;

const refuseFullOutbox = (size: number) => {
  if (size > MAX_OUTBOX) throw storeUnavailable(new Error(`An outbox would hold ${size} events.`));
};

/** The state in a stored document, for stores that query the collection themselves. */
export const stateOf = <S extends AggregateState>(stored: Stored<S>): S => {
  const { _id, version, outbox, outboxAt, relayUntil, relayBy, ...state } = stored;
  // What is left of a stored state is the state without its id.
  return { id: _id, ...state } as unknown as S;
};

const fieldsOf = ({ id: _, ...fields }: AggregateState): Record<string, unknown> => fields;

export function createAggregateStore<S extends AggregateState>(
  collection: Collection<Stored<S>>,
  { clock, ids, source, onCommit = () => undefined }: AggregateStoreOptions,
): AggregateStore<S> {
  // The state's own type is open here: what follows names the outbox's fields, and the state's through `fieldsOf` and `stateOf` only.
  const documents = collection as unknown as Collection<OutboxDoc>;
  const read = (doc: OutboxDoc): S => stateOf<S>(doc as Stored<S>);
  const stamped = (events: readonly OutgoingEvent[]) => events.map((event) => stamp(event, { clock, ids, source }));
  const tell = (events: readonly OutgoingEvent[]) => {
    if (events.length > 0) onCommit();
  };

  const write = async (doc: OutboxDoc, { state, events }: Changed<S>) => {
    if (state.id !== doc._id) throw storeRefusal('The id of an aggregate cannot be changed.');
    refuseFullOutbox(doc.outbox.length + events.length);
    const fields = fieldsOf(state);
    const gone = Object.keys(fieldsOf(read(doc))).filter((name) => !(name in fields));
    const outcome = await documents.updateOne(
      { _id: doc._id, version: doc.version },
      {
        $set: fields,
        $inc: { version: 1 },
        ...(gone.length === 0 ? {} : { $unset: Object.fromEntries(gone.map((name) => [name, ''])) }),
        ...(events.length === 0 ? {} : { $push: { outbox: { $each: stamped(events) } }, $min: { outboxAt: clock.now() } }),
      },
    );
    if (outcome === 'duplicate') throw storeRefusal('An update would repeat a unique key.');
    return outcome === 'updated';
  };

  return {
    async insert(state, events = []) {
      refuseFullOutbox(events.length);
      const outbox = stamped(events);
      const waiting = outbox.length === 0 ? {} : { outboxAt: clock.now() };
      const inserted = await documents.insert({ _id: state.id, version: 1, ...fieldsOf(state), outbox, ...waiting, ...UNCLAIMED });
      if (inserted) tell(events);
      return inserted;
    },
    async get(id) {
      const doc = await documents.findOne({ _id: id });
      return doc && read(doc);
    },
    async update(id, change) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const doc = await documents.findOne({ _id: id });
        if (!doc) return null;
        const changed = change(read(doc));
        if (!changed) return read(doc);
        if (await write(doc, changed)) {
          tell(changed.events);
          return changed.state;
        }
      }
      throw storeUnavailable(new Error(`Other writers won ${MAX_ATTEMPTS} times.`));
    },
  };
}
