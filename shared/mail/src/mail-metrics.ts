import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MailFailureReason } from './transport.ts';

interface QueuedMails {
  readonly count: number;
  /** Since when the one that has waited longest is queued; null when none is. */
  readonly oldest: Date | null;
}

interface MailMetricsOptions {
  readonly registry: Registry;
  readonly queued: () => Promise<QueuedMails>;
  readonly now: () => Date;
}

const MS = 1000;

export const createMailMetrics = ({ registry, queued, now }: MailMetricsOptions) => {
  const registers = [registry];
  const sent = new Counter({ name: 'mails_sent_total', help: 'Mails that the mail server accepted', registers });
  const failed = new Counter({
    name: 'mail_failures_total',
    help: 'Attempts to send that failed, by reason',
    labelNames: ['reason'],
    registers,
  });
  const dropped = new Counter({
    name: 'mails_dropped_total',
    help: 'Mails that were not sent, because they were refused or too late',
    labelNames: ['reason'],
    registers,
  });
  /** Both gauges of a scrape come from one read. When the store is away, the other figures are still served. */
  const read = singleFlight((): Promise<QueuedMails | null> => queued().catch(() => null));
  new Gauge({
    name: 'mails_queued',
    help: 'Mails that are not sent yet',
    registers,
    async collect() {
      this.set((await read())?.count ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'mails_oldest_queued_seconds',
    help: 'Age of the mail that has waited longest',
    registers,
    async collect() {
      const seen = await read();
      const since = seen?.oldest ?? now();
      this.set(seen === null ? Number.NaN : Math.max(0, now().getTime() - since.getTime()) / MS);
    },
  });
  return {
    sent: () => sent.inc(),
    failed: (reason: MailFailureReason) => failed.inc({ reason }),
    dropped: (reason: 'late' | 'refused') => dropped.inc({ reason }),
  };
};
