import { anyone } from '@bubbles/auth/guards.ts';
import { CALENDAR_COOKIES } from '@bubbles/contracts/services.ts';
import { html, withDetails } from '@bubbles/http/routes/content.ts';
import { cookie, reply } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { CALENDAR_PROVIDERS, type CalendarProviderName, CONSENT_SECONDS } from '../../domain/calendar.ts';
import { calendarPages } from './calendar-pages.ts';

const PATH = '/connect/calendar/{provider}';
const PAGE = { method: 'GET', tag: 'Signup', guard: anyone, errorFormat: 'page', documented: false } as const;
const ByProvider = z.object({ provider: z.enum(CALENDAR_PROVIDERS) });

/** A browser keeps `__Secure-` cookies from plain http. */
const [OVER_HTTPS, ON_PLAIN_HTTP] = CALENDAR_COOKIES;
const COOKIES = { [OVER_HTTPS]: 'Ties a consent to the browser', [ON_PLAIN_HTTP]: 'The same on plain http' };

interface Site {
  readonly cookieName: (typeof CALENDAR_COOKIES)[number];
  readonly secure: boolean;
}

/** It goes to the pages of its provider alone. */
const consentCookie = ({ cookieName, secure }: Site, provider: CalendarProviderName, sealed: string) =>
  cookie(cookieName, sealed, { path: `/connect/calendar/${provider}`, secure, maxAgeSeconds: sealed === '' ? 0 : CONSENT_SECONDS });

/** A link holds two ids, an address and a time, sealed. */
const MAX_LINK_LENGTH = 1024;

const openLink = (app: App, site: Site) =>
  route(
    {
      ...PAGE,
      path: PATH,
      operationId: 'openCalendarLink',
      summary: 'Show where a calendar is connected',
      params: ByProvider,
      query: z.object({ link: z.string().max(MAX_LINK_LENGTH).default('') }),
      answers: { 200: withDetails(html, { cookies: COOKIES }), 403: html },
    },
    async ({ params: { provider }, query }) => {
      const pages = calendarPages(provider);
      const opened = await app.openCalendarLink(provider, query.link);
      switch (opened.outcome) {
        case 'over':
          return reply(403, pages.over);
        case 'connected':
          return reply(200, pages.connected);
        case 'not configured':
          return reply(200, pages.notConfigured);
        case 'consent':
          return reply(200, pages.ask(opened.address, opened.consentUrl), {
            cookies: [consentCookie(site, provider, opened.sealedConsent)],
          });
      }
    },
  );

const MAX_PARAMETER = 4096;
const Parameter = z.string().max(MAX_PARAMETER).default('');
/** Longer than the provider and the store may take. */
const CALLBACK_MS = 15_000;

const finishConsent = (app: App, site: Site) =>
  route(
    {
      ...PAGE,
      path: `${PATH}/callback`,
      operationId: 'finishCalendarConsent',
      summary: 'Take the answer of a consent',
      params: ByProvider,
      query: z.object({ state: Parameter, code: Parameter, error: Parameter }),
      answers: { 200: withDetails(html, { cookies: COOKIES }), 400: html, 403: html },
      errors: ['unavailable'],
      timeLimitMs: CALLBACK_MS,
      unsafe: true,
    },
    async ({ params: { provider }, query, cookie: sent }) => {
      const pages = calendarPages(provider);
      const outcome = await app.finishCalendarConsent(provider, { ...query, sealedConsent: sent(site.cookieName) ?? '' });
      switch (outcome) {
        case 'connected':
        case 'denied':
          return reply(200, pages[outcome], { cookies: [consentCookie(site, provider, '')] });
        case 'failed':
        case 'incomplete':
        case 'refused':
          return reply(400, pages[outcome]);
        case 'strange':
          return reply(403, pages.strange);
      }
    },
  );

export const calendarRoutes = (app: App, publicBaseUrl: string) => {
  const secure = publicBaseUrl.startsWith('https:');
  const site: Site = { secure, cookieName: secure ? OVER_HTTPS : ON_PLAIN_HTTP };
  return [openLink(app, site), finishConsent(app, site)];
};
