import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { fakePeers } from '../../../services/webhooks-dispatcher/test/fake-peers.ts';
import { movedClock } from '../../support/moved-clock.ts';
import type { World } from './dispatcher-orders.ts';
import { OWNER, TEAM } from './ready-bubbles.ts';

/** What a dispatcher's process believes of the time and of the services that it asks. */
export interface DispatcherWorld {
  readonly clock: Clock;
  readonly peers: { readonly identity: InternalClient; readonly bubblesQuery: InternalClient };
  become(world: World): void;
  /** Questions to identity that wait for an answer. */
  asking(): number;
}

export const dispatcherWorld = (start: World): DispatcherWorld => {
  let world = start;
  let asking = 0;
  let back = Promise.withResolvers<void>();
  const { identity, bubblesQuery, ...peers } = fakePeers();
  peers.user(OWNER);
  peers.team(TEAM);

  const turnedAway = async (): Promise<never> => {
    asking += 1;
    await back.promise;
    asking -= 1;
    throw new DomainError('unavailable', 'identity did not answer');
  };
  return {
    clock: movedClock(() => world.aheadMs),
    peers: {
      identity: { ...identity, post: (path, call) => (world.identity === 'up' ? identity.post(path, call) : turnedAway()) },
      bubblesQuery,
    },
    become(next) {
      world = next;
      if (next.identity === 'silent') return;
      back.resolve();
      back = Promise.withResolvers();
    },
    asking: () => asking,
  };
};
