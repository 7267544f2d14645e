import { type DestinationPolicy, destinationUrl } from '@bubbles/address-guard/destination-url.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { isDomainError } from '@bubbles/kernel/errors.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import type { AttemptOutcome, Delivery } from '../domain/delivery.ts';
import type { Subscription } from '../domain/subscription.ts';
import { type RequestNames, requestHeaders, signature } from '../domain/webhook-request.ts';
import type { Receiver } from '../ports.ts';

export interface PostPorts extends RequestNames {
  readonly receiver: Receiver;
  readonly receivers: DestinationPolicy;
  readonly seal: Seal;
  readonly clock: Clock;
}

const BLOCKED: AttemptOutcome = {
  outcome: 'blocked_address',
  status: null,
  tookMs: 0,
  preview: null,
  detail: 'The URL is not one that may be called.',
};

/** Null for a URL that the current policy refuses. */
function target(url: string, policy: DestinationPolicy): URL | null {
  try {
    return destinationUrl('url', url, policy);
  } catch (error) {
    if (isDomainError(error)) return null;
    throw error;
  }
}

type Secrets = Pick<Subscription, 'id' | 'secretSealed' | 'previousSecret'>;

/** The secrets that sign at this time: the current one, and the one before it while receivers change over. */
const signingSecrets = ({ id, secretSealed, previousSecret }: Secrets, seal: Seal, now: Date): readonly string[] => {
  const sealed = previousSecret !== null && previousSecret.until > now ? [secretSealed, previousSecret.sealed] : [secretSealed];
  return sealed.map((one) => seal.unseal(one, id).toString());
};

interface Addressed {
  readonly to: URL;
  /** The newest first. */
  readonly secrets: readonly string[];
}

interface Sent {
  readonly body: Uint8Array;
  /** When the attempt began: the time that is signed. */
  readonly at: Date;
}

/** POSTs the frozen bytes with a fresh signature. URL and secrets of a subscription are read once and kept for the lifetime of the function: one batch. */
export const post = ({ receiver, receivers, seal, clock, ...names }: PostPorts) => {
  const known = new Map<string, Addressed | null>();
  const addressed = (subscription: Subscription): Addressed | null => {
    const to = target(subscription.url, receivers);
    return to && { to, secrets: signingSecrets(subscription, seal, clock.now()) };
  };
  return (delivery: Delivery, subscription: Subscription, { body, at }: Sent): Promise<AttemptOutcome> => {
    const address = known.has(subscription.id) ? known.get(subscription.id) : addressed(subscription);
    known.set(subscription.id, address ?? null);
    if (!address) return Promise.resolve(BLOCKED);
    const headers = requestHeaders(names, delivery, signature(address.secrets, body, at));
    return receiver.post({ url: address.to, headers, body });
  };
};
