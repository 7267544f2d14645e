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
  readonly version: number;
}

const EXPIRES_AT = { name: 'expires_at', keys: { expiresAt: 1 } } as const;
const MAX_ATTEMPTS = 256;

const toDoc = ({ id, sessionHash, ...flow }: Flow, version: number): FlowDoc => ({ ...flow, _id: sessionHash, flowId: id, version });
const toFlow = ({ _id, flowId, version, ...flow }: FlowDoc): Flow => ({ ...flow, id: flowId, sessionHash: _id });

const openFlows = (open: OpenCollection): FlowStore => {
  const flows = open<FlowDoc>('flows', [EXPIRES_AT]);
  return {
    insert: async (flow) => {
      await flows.insert(toDoc(flow, 1));
    },
    get: async (sessionHash) => {
      const doc = await flows.findOne({ _id: sessionHash });
      return doc && toFlow(doc);
    },
    async update(sessionHash, change) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const doc = await flows.findOne({ _id: sessionHash });
        if (doc === null) return null;
        const changed = change(toFlow(doc));
        if (changed === null) return toFlow(doc);
        if (await flows.replaceOne({ _id: sessionHash, version: doc.version }, toDoc(changed, doc.version + 1))) return changed;
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
