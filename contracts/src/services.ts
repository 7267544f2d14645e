/** The edge proxy: no service, since it has neither data nor use cases. */
export const GATEWAY = 'gateway';
/** A person with the commands of `npm run admin`. */
export const OPERATOR = 'operator';

const APP_PREFIX = '/app/';
const CALENDAR_PREFIX = '/connect/calendar/';
/** Below them are pages for people: what is refused there is a page too. */
export const PAGES_PREFIXES = [APP_PREFIX, CALENDAR_PREFIX] as const;

/** Ties the consent for a calendar to a browser: over https, and on plain http. */
export const CALENDAR_COOKIES = ['__Secure-calendar', 'calendar'] as const;
/** The cookies that the gateway hands on to a service, never those of its data endpoints; to the others it hands none. */
export const COOKIES_FOR: Readonly<Record<string, 'all' | readonly string[]>> = { 'identity-and-oauth': 'all', signup: CALENDAR_COOKIES };

/** Below it files of recordings are served, where the service keeps them itself. */
export const MEDIA_PREFIX = '/media/';

/** What the others must know of a service. */
export interface ServiceEntry {
  /** Below them the gateway sends it every request; of two that match, the longer one decides. */
  readonly prefixes: readonly string[];
  /** Its own; null for a service without data. */
  readonly database: string | null;
  /** The variable that tells its callers where it is. */
  readonly urlsVariable: string;
  /** Services that may call its internal endpoints, or its public ones for a user; each authenticates with a service token. */
  readonly callers: readonly string[];
}

/** In start order: a service comes after the services that it calls. */
export const SERVICES = {
  'identity-and-oauth': {
    prefixes: ['/v1/me', '/v1/teams', '/v1/api-keys', '/oauth/', '/.well-known/', APP_PREFIX],
    database: 'bubbles_identity',
    urlsVariable: 'IDENTITY_URLS',
    callers: [GATEWAY, 'bubbles-query', 'webhooks-dispatcher', 'meetings-bot-gateway', 'signup', 'assistant-connector', OPERATOR],
  },
  'bubbles-query': {
    prefixes: ['/v1/bubbles'],
    database: 'bubbles_query',
    urlsVariable: 'BUBBLES_QUERY_URLS',
    callers: [GATEWAY, 'webhooks-dispatcher', OPERATOR],
  },
  'webhooks-dispatcher': {
    prefixes: ['/v1/webhooks'],
    database: 'bubbles_webhooks',
    urlsVariable: 'WEBHOOKS_DISPATCHER_URLS',
    callers: [GATEWAY, 'identity-and-oauth', OPERATOR],
  },
  'meetings-bot-gateway': {
    prefixes: ['/v1/meetings', '/hooks/notetakers/', MEDIA_PREFIX],
    database: 'bubbles_meetings',
    urlsVariable: 'MEETINGS_URLS',
    callers: [GATEWAY, OPERATOR],
  },
  signup: {
    prefixes: ['/v1/signup', CALENDAR_PREFIX],
    database: 'bubbles_signup',
    urlsVariable: 'SIGNUP_URLS',
    callers: [GATEWAY, OPERATOR],
  },
} as const satisfies Readonly<Record<string, ServiceEntry>>;

// The keys of a literal, which `Object.keys` tells as text.
const SERVICE_NAMES = Object.keys(SERVICES) as (keyof typeof SERVICES)[];

/** The services with operators' commands, each with the variable that holds its address. */
export const OPERATED: readonly { readonly service: keyof typeof SERVICES; readonly urlVariable: string }[] = SERVICE_NAMES.filter(
  (service) => SERVICES[service].callers.some((caller) => caller === OPERATOR),
).map((service) => ({ service, urlVariable: SERVICES[service].urlsVariable.replace(/S$/, '') }));

export type ServiceTable = Readonly<Record<string, ServiceEntry>>;
