import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { SECRET_BYTES, secretOf } from '../domain/ids.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Access, SubscriptionChange, SubscriptionStore } from '../ports.ts';
import { type Owner, requirePaidAccess } from './subscriptions.ts';

type Secrets = Pick<Subscription, 'id' | 'secretSealed' | 'previousSecret'>;

/** What signs at that time: the secret, and the one before it while receivers change over. */
export const signingSecrets = ({ id, secretSealed, previousSecret }: Secrets, seal: Seal, now: Date): readonly string[] => {
  const sealed = previousSecret !== null && previousSecret.until > now ? [secretSealed, previousSecret.sealed] : [secretSealed];
  return sealed.map((one) => seal.open(one, id).toString());
};

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly access: Access;
  readonly seal: Seal;
  readonly clock: Clock;
}

export interface Rotation {
  readonly id: string;
  /** How long the old secret signs beside the new one; of those before it none does any more. */
  readonly overlapSeconds: number;
  /** Those of the request: one that comes again finds the secret that it made. */
  readonly ids: Ids;
}

export const rotateSecret = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  return async (
    owner: Owner,
    { id, overlapSeconds, ids }: Rotation,
  ): Promise<{ readonly secret: string; readonly subscription: Subscription }> => {
    await paid(owner);
    const secret = secretOf(ids.bytes(SECRET_BYTES));
    const until = new Date(ports.clock.now().getTime() + overlapSeconds * 1000);
    const rotated = ({ secretSealed }: Subscription): SubscriptionChange => {
      if (ports.seal.open(secretSealed, id).toString() === secret) return {};
      const previousSecret = overlapSeconds === 0 ? null : { sealed: secretSealed, until };
      return { secretSealed: ports.seal.close(Buffer.from(secret), id), previousSecret };
    };
    const subscription = await ports.subscriptions.update(owner.userId, id, rotated);
    if (subscription === null) throw new DomainError('not_found', 'No such webhook subscription.');
    return { secret, subscription };
  };
};
