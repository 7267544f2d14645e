import { createHmac, hkdfSync } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { createSeal, type SealKey } from '@bubbles/kernel/seal.ts';
import type { CalendarLinks } from '../../calendar-ports.ts';
import type { CalendarFlow, CalendarProviderName } from '../../domain/calendar.ts';

interface LinksOptions {
  /** The first one seals, any of them unseals. */
  readonly sealKeys: readonly SealKey[];
  readonly publicBaseUrl: string;
  readonly clock: Clock;
}

const NAME = 'calendar link';
const KEY_BYTES = 32;

const payloadOf = (provider: CalendarProviderName, { flowId, userId, address, until }: CalendarFlow): Buffer =>
  Buffer.from(JSON.stringify([provider, flowId, userId, address, until.getTime()]));

/** Links that carry all that they mean, sealed, since they hold an address: none is stored. */
export const createCalendarLinks = ({ sealKeys, publicBaseUrl, clock }: LinksOptions): CalendarLinks => {
  const [current] = sealKeys;
  if (current === undefined) throw new Error('there is no key to seal links with');
  const nonceKey = Buffer.from(hkdfSync('sha256', current.key, '', NAME, KEY_BYTES));
  // The nonce follows from what is sealed: the same link comes out again, and no two links share a nonce.
  const tokenOf = (payload: Buffer): string =>
    createSeal(sealKeys, (bytes) => createHmac('sha256', nonceKey).update(payload).digest().subarray(0, bytes)).seal(payload, NAME);
  const unsealed = (token: string): string | null => {
    try {
      return createSeal(sealKeys, (bytes) => Buffer.alloc(bytes))
        .unseal(token, NAME)
        .toString();
    } catch {
      // A link is whatever somebody opens.
      return null;
    }
  };
  return {
    linksFor(flow) {
      const link = (provider: CalendarProviderName) =>
        `${publicBaseUrl}/connect/calendar/${provider}?link=${tokenOf(payloadOf(provider, flow))}`;
      return { google: link('google'), microsoft: link('microsoft') };
    },
    flowOf(provider, token) {
      const payload = unsealed(token);
      if (payload === null) return null;
      // Only `linksFor` seals under this name.
      const [of, flowId, userId, address, untilMs] = JSON.parse(payload) as [CalendarProviderName, string, string, string, number];
      return of === provider && clock.now().getTime() < untilMs ? { flowId, userId, address, until: new Date(untilMs) } : null;
    },
  };
};
