import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { hinted, type Join } from '../domain/join.ts';
import { hintWaitsUntil } from '../domain/watchdog.ts';
import type { JoinStore, MeetingMetrics, Notetakers, ProviderEventStore, ProviderHint, ProviderWebhook } from '../ports.ts';

export interface HintPorts {
  readonly joins: JoinStore;
  readonly notetakers: Notetakers;
  readonly providerEvents: ProviderEventStore;
  readonly metrics: Pick<MeetingMetrics, 'providerWebhook'>;
  readonly clock: Clock;
  /** Wakes the loop that processes hints. */
  readonly wakeHints: () => void;
  /** Wakes the loop that watches notetakers. */
  readonly wakeWatch: () => void;
  /** Wakes the loop that captures recordings. */
  readonly wakeCapture: () => void;
}

/** Keeps what a provider tells, and answers before anything is made of it: the provider's API may be slow while it sends webhooks. */
export const receiveProviderWebhook =
  ({ notetakers, providerEvents, metrics, clock, wakeHints }: HintPorts) =>
  async (provider: string, webhook: ProviderWebhook): Promise<void> => {
    const notetaker = notetakers.named(provider);
    if (notetaker === null) throw new DomainError('not_found', 'No such resource.');
    const event = notetaker.verify(webhook);
    if (event === null) {
      metrics.providerWebhook(provider, 'refused');
      throw new DomainError('unauthorized', 'The signature does not prove that this webhook is from the provider.');
    }
    const isAboutRun = event.joinId !== null || event.ref !== null;
    const isNew = isAboutRun && (await providerEvents.insert({ ...event, provider, receivedAt: clock.now() }));
    metrics.providerWebhook(provider, isAboutRun ? (isNew ? 'stored' : 'repeated') : 'ignored');
    if (isNew) wakeHints();
  };

/** By our id of the join, else by what the provider calls the run. One of another provider is never found. */
const joinFinder = async (joins: JoinStore, hints: readonly ProviderHint[]) => {
  const byId = await joins.byIds(hints.flatMap(({ joinId }) => joinId ?? []));
  const named = ({ joinId, provider }: ProviderHint): Join | null => {
    const join = joinId === null ? undefined : byId.get(joinId);
    return join?.provider === provider ? join : null;
  };
  const byRef = await joins.byRefs(
    hints.flatMap((hint) => (hint.ref === null || named(hint) ? [] : { provider: hint.provider, ref: hint.ref })),
  );
  return (hint: ProviderHint): readonly Join[] => {
    const join = named(hint);
    if (join !== null) return [join];
    const { ref, provider } = hint;
    return byRef.filter(({ providerRef, ...found }) => found.provider === provider && providerRef === ref);
  };
};

/** The joins that are to be looked at, and the hints that wait: those about no join that is known. */
const readHints = (hints: readonly ProviderHint[], find: (hint: ProviderHint) => readonly Join[], now: Date) => {
  const waiting = new Map<string, Date>();
  const told = new Set<string>();
  for (const hint of hints) {
    const found = find(hint);
    // One that waits for a look already gets it after this hint.
    for (const join of found) if (hinted(join, now) !== null) told.add(join.id);
    const until = found.length === 0 && hint.joinId === null ? hintWaitsUntil(hint, now) : null;
    if (until !== null) waiting.set(hint.id, until);
  }
  return { told, waiting };
};

/**
 * Lets the joins that the hints are about be looked at, or their recordings be asked for; many hints of one join are one look. Answers which hints wait,
 * and until when: what their ref means may be known once the answer to a dispatch is stored.
 */
export const followHints =
  ({ joins, clock, wakeWatch, wakeCapture }: Pick<HintPorts, 'joins' | 'clock' | 'wakeWatch' | 'wakeCapture'>) =>
  async (hints: readonly ProviderHint[]): Promise<ReadonlyMap<string, Date>> => {
    const now = clock.now();
    const { told, waiting } = readHints(hints, await joinFinder(joins, hints), now);
    for (const id of told) {
      await joins.update(id, (join) => {
        const state = hinted(join, now);
        return state && { state, events: [] };
      });
    }
    if (told.size > 0) {
      wakeWatch();
      wakeCapture();
    }
    return waiting;
  };

export const sweepProviderEvents =
  ({ providerEvents, clock }: Pick<HintPorts, 'providerEvents' | 'clock'>) =>
  (): Promise<void> =>
    providerEvents.sweep(clock.now());
