import { createHash } from 'node:crypto';
import type { StoreContext } from '@bubbles/host/service.ts';
import { createCodes } from '@bubbles/mail/codes.ts';
import { openMails } from '@bubbles/mail/mailer.ts';
import { createThrottle } from '@bubbles/mail/throttle.ts';
import { storeUnavailable, sweepExpired } from '@bubbles/store/collection.ts';
import { indexedCollections, type OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { Flow } from '../../domain/flow.ts';
import type { Creation, CreationStore, FlowStore } from '../../ports.ts';
import { openCalendarGrants } from './calendar-grants.ts';

/** `_id` is the hash of the session. */
interface FlowDoc extends Omit<Flow, 'id' | 'sessionHash'> {
  readonly _id: string;
  readonly flowId: string;
}

const EXPIRES_AT = { name: 'expires_at', keys: { expiresAt: 1 } } as const;
const MAX_ATTEMPTS = 256;

const docOf = ({ id, sessionHash, ...flow }: Flow): FlowDoc => ({ ...flow, _id: sessionHash, flowId: id });
const toFlow = ({ _id, flowId, ...flow }: FlowDoc): Flow => ({ ...flow, id: flowId, sessionHash: _id });

const openFlows = (open: OpenCollection): FlowStore => {
  const flows = open<FlowDoc>('flows', [EXPIRES_AT]);
  const get = async (sessionHash: string): Promise<Flow | null> => {
    const doc = await flows.findOne({ _id: sessionHash });
    return doc && toFlow(doc);
  };
  return {
    insert: async (flow) => {
      await flows.insert(docOf(flow));
    },
    get,
    async update(read, change) {
      let current: Flow | null = read;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        if (current === null) return null;
        const changed = change(current);
        if (changed === null) return current;
        const next: Flow = { ...changed, version: current.version + 1 };
        if (await flows.replaceOne({ _id: current.sessionHash, version: current.version }, docOf(next))) return next;
        current = await get(read.sessionHash);
      }
      throw storeUnavailable(new Error(`Other writers won ${MAX_ATTEMPTS} times.`));
    },
    forgetExpired: (now) => sweepExpired(flows, now),
  };
};

/** `_id` is a hash of the address. */
interface CreationDoc extends Creation {
  readonly _id: string;
}

const openCreations = (open: OpenCollection): CreationStore => {
  const creations = open<CreationDoc>('creations', [EXPIRES_AT]);
  return {
    async claim(address, creation, now) {
      const _id = createHash('sha256').update(address).digest('hex');
      for (;;) {
        if (await creations.replaceOne({ _id, expiresAt: { $lte: now } }, { ...creation, _id }, { upsert: true })) return creation;
        const found = await creations.findOne({ _id });
        if (found !== null && found.expiresAt > now) return { flowId: found.flowId, name: found.name, expiresAt: found.expiresAt };
      }
    },
    forgetExpired: (now) => sweepExpired(creations, now),
  };
};

/** Everything that signup keeps. */
export const openStores = ({ database, clock, ids }: Pick<StoreContext, 'database' | 'clock' | 'ids'>) => {
  const { open, ensureIndexes } = indexedCollections(database);
  return {
    flows: openFlows(open),
    creations: openCreations(open),
    ...openCalendarGrants(open, clock),
    mails: openMails(open),
    mailedCodes: createCodes({ open, clock, ids }),
    throttle: createThrottle({ open, clock }),
    ensureIndexes,
  };
};
