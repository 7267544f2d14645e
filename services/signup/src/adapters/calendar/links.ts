import type { Clock } from '@bubbles/kernel/clock.ts';
import type { SealKey } from '@bubbles/kernel/seal.ts';
import type { CalendarLinks } from '../../calendar-ports.ts';
import { type CalendarProviderName, linkKeyOf, linkToken, readLinkToken } from '../../domain/calendar.ts';

interface LinksOptions {
  /** The first one signs, any of them is believed. */
  readonly sealKeys: readonly SealKey[];
  readonly publicBaseUrl: string;
  readonly clock: Clock;
}

/** Links that carry all that they mean, signed: none is stored. */
export const createCalendarLinks = ({ sealKeys, publicBaseUrl, clock }: LinksOptions): CalendarLinks => {
  const keys = sealKeys.map(({ key }) => linkKeyOf(key));
  const [current] = keys;
  if (current === undefined) throw new Error('there is no key to sign links with');
  return {
    linksFor(flow) {
      const link = (provider: CalendarProviderName) =>
        `${publicBaseUrl}/connect/calendar/${provider}?link=${linkToken(current, provider, flow)}`;
      return { google: link('google'), microsoft: link('microsoft') };
    },
    ownerOf: (provider, token) => readLinkToken(keys, { provider, token, now: clock.now() }),
  };
};
