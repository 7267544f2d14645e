import type { Log } from '@bubbles/kernel/log.ts';
import { currentTraceparent, endSpan, inNewSpan, runInSpan, startSpan } from '@bubbles/kernel/trace.ts';
import type { Delivery } from '../../domain/delivery.ts';
import type { AttemptReport, Traces } from '../../ports.ts';

/** Log fields of an attempt, so that an operator finds it by delivery id or by trace. */
const fieldsOf = ({ id, eventId, subscriptionId, type, attemptCount }: Delivery, { outcome }: AttemptReport) => ({
  deliveryId: id,
  eventId,
  subscriptionId,
  type,
  attempt: attemptCount + 1,
  outcome: outcome?.outcome ?? null,
  status: outcome?.status ?? null,
  tookMs: Math.round(outcome?.tookMs ?? 0),
});

export const deliveryTraces = (log: Log): Traces => {
  const tell = (delivery: Delivery, report: AttemptReport): void => {
    const hasFailed = report.outcome !== null && report.outcome.outcome !== '2xx';
    log[hasFailed ? 'info' : 'debug'](report.outcome === null ? 'webhook not attempted' : 'webhook attempted', fieldsOf(delivery, report));
  };
  const attemptIn = (delivery: Delivery, attempt: () => Promise<AttemptReport>): Promise<AttemptReport> => {
    const span = startSpan(delivery.causedBy);
    return runInSpan(span, async () => {
      const report = await attempt();
      tell(delivery, report);
      endSpan(span, () => {
        const { outcome } = report;
        const error = outcome === null || outcome.outcome === '2xx' ? null : outcome.outcome;
        const attributes = { 'webhook.delivery_id': delivery.id, ...(outcome?.status && { 'http.response.status_code': outcome.status }) };
        return { name: 'attempt webhook', kind: 'client', attributes, error };
      });
      return report;
    });
  };
  return {
    current: currentTraceparent,
    // A batched check continues the trace of its first delivery.
    ofAttempts: (prepare) => async (batch, onAway) => {
      const causedBy = batch.claimed[0]?.causedBy;
      const attempt = await inNewSpan({ name: 'prepare webhooks', kind: 'internal', causedBy }, () => prepare(batch, onAway));
      return (delivery) => attemptIn(delivery, () => attempt(delivery));
    },
  };
};
