import type { Clock } from '@bubbles/shared/clock.ts';
import { isDomainError } from '@bubbles/shared/errors.ts';
import type { Seal } from '@bubbles/shared/seal.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { AttemptResult } from '../domain/outcome.ts';
import { type ReceiverPolicy, receiverUrl } from '../domain/receiver-url.ts';
import { signature } from '../domain/signature.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Receiver } from '../ports.ts';

export interface PostPorts {
  readonly receiver: Receiver;
  readonly receivers: ReceiverPolicy;
  readonly seal: Seal;
  readonly clock: Clock;
  /** The service-specific part of the header names, `X-<name>-Signature`. */
  readonly headerName: string;
  readonly userAgent: string;
}

const BLOCKED: AttemptResult = { outcome: 'blocked_address', status: null, tookMs: 0, preview: null };

/** Null for a URL that the policy of today refuses. */
function target(url: string, policy: ReceiverPolicy): URL | null {
  try {
    return receiverUrl(url, policy);
  } catch (error) {
    if (isDomainError(error)) return null;
    throw error;
  }
}

/** One POST of the frozen bytes, signed now. */
export const post =
  ({ receiver, receivers, seal, clock, headerName, userAgent }: PostPorts) =>
  (delivery: Delivery, { id, url, secretSealed }: Subscription, body: Uint8Array): Promise<AttemptResult> => {
    const to = target(url, receivers);
    if (to === null) return Promise.resolve(BLOCKED);
    const own = `x-${headerName}`.toLowerCase();
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      [`${own}-event`]: delivery.type,
      [`${own}-delivery`]: delivery.id,
      [`${own}-signature`]: signature(seal.open(secretSealed, id).toString(), body, clock.now()),
    };
    return receiver.post({ url: to, headers, body });
  };
