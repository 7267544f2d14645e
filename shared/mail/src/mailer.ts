import { createLoop } from '@bubbles/host/service.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { currentTraceparent } from '@bubbles/kernel/trace.ts';
import type { Collection, Doc, IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { createWorkQueue, type Lease, type WorkQueue } from '@bubbles/store/work/work-queue.ts';
import { createWorker } from '@bubbles/store/work/worker.ts';
import type { Registry } from 'prom-client';
import { createMailMetrics } from './mail-metrics.ts';
import { checkedMail, type Mail, MailFailure, type MailTransport, type OutgoingMail } from './transport.ts';

export interface MailDoc extends Doc {
  /** Null once it was sent or refused for good: what is left keeps its id from being sent again until `dropAt`. */
  readonly queuedAt: Date | null;
  readonly dueAt: Date;
  readonly leaseToken: string | null;
  readonly tries: number;
  readonly dropAt: Date;
  /** `traceparent` of the work that stored it, which its sending continues; mails of earlier releases have none. */
  readonly traceparent?: string | null;
  /** Address, subject and texts, readable with the master key only; null as `queuedAt`. */
  readonly sealed: string | null;
}

const INDEXES: readonly IndexSpec[] = [
  { name: 'due_at', keys: { dueAt: 1 } },
  { name: 'queued_at', keys: { queuedAt: 1 } },
];

const MAILS = 'mails';
/** The mails of one service, in a collection of its database. */
export const openMails = (open: OpenCollection): Collection<MailDoc> => open<MailDoc>(MAILS, INDEXES);

interface MailerOptions {
  readonly mails: Collection<MailDoc>;
  readonly transport: MailTransport;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly registry: Registry;
}

const LEASE_MS = 30_000;
const POLL_MS = 5000;
const CONCURRENCY = 4;
const MINUTE_MS = 60_000;
const RETRY_MS = { first: 5000, max: 60_000 } as const;

const QUEUED = { queuedAt: { $gt: new Date(0) } };
const queuedIn = async (mails: Collection<MailDoc>) => ({
  count: await mails.count(QUEUED),
  oldest: (await mails.findOne(QUEUED, { sort: { queuedAt: 1 } }))?.queuedAt ?? null,
});

/** Then many are forgotten with one wake-up. */
const wholeMinute = (at: Date): Date => new Date(Math.ceil(at.getTime() / MINUTE_MS) * MINUTE_MS);

const sealedName = (id: string) => `mail ${id}`;

/** Null when `work` got through. */
const failureOf = async (work: () => Promise<void>): Promise<MailFailure | null> => {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error;
    return error;
  }
};

interface Claimed {
  readonly doc: MailDoc;
  readonly lease: Lease;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** What is done with a mail that fell due. */
const mailWork = (options: MailerOptions, queue: WorkQueue<MailDoc>) => {
  const { mails, transport, seal, clock, log, registry } = options;
  const metrics = createMailMetrics({ registry, queued: () => queuedIn(mails), now: () => clock.now() });
  let failuresInRow = 0;

  /** Erases what the mail said; its id stays until nobody can mean it any more. */
  const erase = ({ doc: { _id: id, dropAt }, lease: { token } }: Claimed) =>
    queue.end({ id, token, claimableAt: wholeMinute(dropAt), update: { $set: { sealed: null, queuedAt: null } } });
  const retry = ({ doc: { _id: id, tries, dropAt }, lease: { token } }: Claimed) => {
    const at = clock.now().getTime() + Math.min(RETRY_MS.first * 2 ** tries, RETRY_MS.max);
    return queue.end({ id, token, claimableAt: new Date(Math.min(at, dropAt.getTime())), update: { $inc: { tries: 1 } } });
  };
  const drop = ({ doc: { _id: mail, tries } }: Claimed, reason: 'late' | 'refused', status: number | null = null) => {
    metrics.dropped(reason);
    log.warn('mail dropped', { mail, reason, tries, status });
  };
  const end = (claimed: Claimed, { reason, status }: MailFailure) => {
    metrics.failed(reason);
    if (reason === 'refused' || reason === 'address') {
      drop(claimed, 'refused', status);
      return erase(claimed);
    }
    failuresInRow += 1;
    // The first, the second, the fourth, …: a mail server that is away does not fill the log.
    if (Number.isInteger(Math.log2(failuresInRow)))
      log.warn('mail not accepted, trying again', { mail: claimed.doc._id, reason, status, failures: failuresInRow });
    return retry(claimed);
  };
  const read = (id: string, sealed: string): OutgoingMail => {
    try {
      // Sealed by `send`.
      return JSON.parse(seal.unseal(sealed, sealedName(id)).toString()) as OutgoingMail;
    } catch (cause) {
      throw new MailFailure('unreadable', null, cause);
    }
  };
  const attempt = async (claimed: Claimed, sealed: string) => {
    const { doc, lease, signal } = claimed;
    const failure = await failureOf(async () => transport.deliver(checkedMail(read(doc._id, sealed)), signal));
    if (failure === null) {
      metrics.sent();
      log.info('mail sent', { mail: doc._id, tries: doc.tries, failures: failuresInRow });
      failuresInRow = 0;
      await erase(claimed);
    } else if (signal.aborted) await queue.end({ id: doc._id, token: lease.token, claimableAt: clock.now() });
    else await end(claimed, failure);
  };

  return async (claimed: Claimed): Promise<void> => {
    const { doc, lease } = claimed;
    if (doc.dropAt > clock.now() && doc.sealed !== null) return attempt(claimed, doc.sealed);
    if (doc.sealed !== null) drop(claimed, 'late');
    await queue.remove(doc._id, lease.token);
  };
};

/**
 * Stores mails sealed and sends them when it can: again after a failure, later each time, until `dropAt`. Replicas share the work. A process that dies after
 * a mail was accepted and before that was stored leaves it to be sent twice; none is lost.
 */
export const createMailer = (options: MailerOptions) => {
  const { mails, transport, seal, clock, ids } = options;
  const queue = createWorkQueue({ collection: mails, fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' } });
  const work = mailWork(options, queue);
  const cutting = new AbortController();
  const loop = createLoop(
    (own) =>
      createWorker({
        ...own,
        name: 'mail',
        queue,
        causedBy: ({ traceparent }) => traceparent,
        work: (doc, lease, lost) => work({ doc, lease, signal: AbortSignal.any([lost, cutting.signal]) }),
        ids,
        leaseMs: LEASE_MS,
        renews: true,
        pollMs: POLL_MS,
        wakesWhenDue: true,
        concurrency: CONCURRENCY,
      }),
    // Has no scope of its own, because reading the sandbox's mailbox already waits for sent mail.
    { cut: () => cutting.abort() },
  );

  return {
    loop,
    sealed: { collection: MAILS, fields: ['sealed'], nameOf: sealedName },
    /** Resolves when the mail is stored, not when it is sent. The same id again, before `dropAt`, changes nothing. */
    async send({ id, dropAt, to, subject, text, html }: Mail): Promise<void> {
      const sealed = seal.seal(Buffer.from(JSON.stringify({ id, to, subject, text, html })), sealedName(id));
      const now = clock.now();
      await mails.insert({
        _id: id,
        queuedAt: now,
        dueAt: now,
        leaseToken: null,
        tries: 0,
        dropAt,
        traceparent: currentTraceparent(),
        sealed,
      });
      loop.poke();
    },
    /** Call it only where no other process can be at work. */
    releaseLeases: () => queue.releaseAll(clock.now()),
    close: () => transport.close(),
  };
};
