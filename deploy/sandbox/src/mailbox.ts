import { domainToASCII } from 'node:url';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { MailTransport, OutgoingMail } from '@bubbles/mail/transport.ts';
import type { Collection, Database, IndexSpec } from '@bubbles/store/collection.ts';

/** A mail that was sent. `_id` is that of the mail, so that one that is sent twice lies there once. */
interface MailboxDoc extends Omit<OutgoingMail, 'id'> {
  readonly _id: string;
  /** The address without the difference of large and small letters, with its domain in ASCII. */
  readonly folded: string;
  readonly sentAt: Date;
  /** In which order they came: the clock stands still while mails are sent. */
  readonly position: number;
}

const INDEXES: readonly IndexSpec[] = [
  { name: 'position', keys: { position: 1 } },
  { name: 'folded_position', keys: { folded: 1, position: 1 } },
];
const MAX_SHOWN = 1000;

export interface Mailbox extends MailTransport {
  /** Newest first, to everybody when `to` is null. */
  read(to: string | null): Promise<Omit<MailboxDoc, '_id' | 'folded' | 'position'>[]>;
}

const fold = (address: string): string => {
  const lower = address.toLowerCase();
  const host = lower.slice(lower.lastIndexOf('@') + 1);
  // A host name that has no form in ASCII stays as it is.
  return lower.slice(0, lower.length - host.length) + (domainToASCII(host) || host);
};

const lastPosition = async (mails: Collection<MailboxDoc>): Promise<number> =>
  (await mails.findOne({}, { sort: { position: -1 } }))?.position ?? 0;

/** Where the mails of the sandbox end: in the data folder beside the rest. */
export const openMailbox = async (database: Database, clock: Clock): Promise<Mailbox> => {
  const mails = database.collection<MailboxDoc>('mailbox');
  await mails.ensureIndexes(INDEXES);
  let position = await lastPosition(mails);
  return {
    async deliver({ id, to, subject, text, html }) {
      position += 1;
      await mails.insert({ _id: id, to, folded: fold(to), subject, text, html, sentAt: clock.now(), position });
    },
    close: () => Promise.resolve(),
    read: (to) => mails.find(to === null ? {} : { folded: fold(to) }, { sort: { position: -1 }, limit: MAX_SHOWN }),
  };
};
