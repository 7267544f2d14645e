import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { simpleParser } from 'mailparser';
import { type Crowd, openCrowd } from '../chaos/support/crowd.ts';
import { JOURNEYS, type Journey, reads } from '../chaos/support/journeys.ts';
import type { LoadOrder, LoadSettings, Served } from './load.ts';

// What is outside of the cluster, as a process in the network of its node: people who do what each service is there for, and the recording pipeline.

const LOADS: Readonly<Record<string, readonly Journey[]>> = {
  gateway: [reads('/v1/openapi.json', '/v1/me')],
  'identity-and-oauth': [reads('/v1/me', '/v1/teams'), JOURNEYS['manages keys']],
  'bubbles-query': [
    reads('/v1/bubbles?limit=5', '/v1/bubbles/search?q=recording'),
    JOURNEYS['turns pages of the list'],
    JOURNEYS['turns pages of a search'],
  ],
  'webhooks-dispatcher': [reads('/v1/webhooks'), JOURNEYS.subscribes],
  'meetings-bot-gateway': [reads('/v1/meetings/join'), JOURNEYS['records a meeting']],
  signup: [JOURNEYS['signs up']],
};
const EACH_AT_ONCE = 2;
const PAUSE_MS = 100;
/** The first of what failed. */
const SHOWN = 12;
/** A few recordings a second. */
const BATCH = { count: 4, paceMs: 1000 };

/** What came of the requests to the gateway, whoever sent them. */
const watchRequests = (origin: string) => {
  const seen = { requests: 0, connections: 0, failures: [] as string[] };
  // What undici publishes on its channels; https://undici.nodejs.org/#/docs/api/DiagnosticsChannel
  interface Published {
    readonly request: { readonly origin: string; readonly method: string; readonly path: string };
    readonly response: { readonly statusCode: number; readonly headers: readonly Buffer[] };
    readonly error: unknown;
    readonly connectParams: { readonly host: string };
  }
  const on = (channel: string, hear: (message: Published) => void) => subscribe(channel, (message) => hear(message as Published));
  const fail = ({ request: { method, path } }: Published, why: unknown) => {
    seen.failures.push(`${new Date().toISOString()} ${method} ${path}: ${String(why)}`);
  };
  const isOurs = ({ request }: Published) => request.origin === origin;
  on('undici:request:create', (one) => {
    if (isOurs(one)) seen.requests += 1;
  });
  on('undici:request:headers', (one) => {
    const { statusCode, headers } = one.response;
    const named = headers.findIndex((name) => name.toString().toLowerCase() === 'x-gateway-reason');
    if (isOurs(one) && statusCode >= 500) fail(one, `${statusCode} ${named < 0 ? '' : String(headers[named + 1])}`);
  });
  on('undici:request:error', (one) => {
    if (isOurs(one)) fail(one, one.error);
  });
  on('undici:client:connected', ({ connectParams }) => {
    if (connectParams.host === new URL(origin).host) seen.connections += 1;
  });
  return seen;
};

const startLoad = ({ scene, record }: Crowd, services: readonly string[]) => {
  const over = new AbortController();
  const broken: string[] = [];
  let turns = 0;
  const again = async (name: string, work: () => Promise<void>) => {
    while (!over.signal.aborted) {
      try {
        await work();
        turns += 1;
      } catch (error) {
        broken.push(`${new Date().toISOString()} ${name}: ${String(error)}`);
      }
      await pause(PAUSE_MS);
    }
  };
  const going = services.flatMap((service) =>
    (LOADS[service] ?? []).flatMap((journey) =>
      Array.from({ length: EACH_AT_ONCE }, () => again(service, async () => (await journey(scene))())),
    ),
  );
  going.push(again('recording', () => record(BATCH)));
  return {
    async stop() {
      over.abort();
      await Promise.all(going);
      return { turns, broken };
    },
  };
};

const codesIn = (mailsUrl: string) => async (address: string) => {
  const mails: readonly { readonly to: readonly string[]; readonly text: string }[] = JSON.parse(await (await fetch(mailsUrl)).text());
  const parsed = await Promise.all(mails.filter(({ to }) => to.includes(address)).map(({ text }) => simpleParser(text)));
  return parsed.map(({ text = '' }) => /\b\d{6}\b/.exec(text)?.[0] ?? '').toReversed();
};

process.on('disconnect', () => process.exit(0));
const [settings]: LoadSettings[] = await once(process, 'message');
if (settings === undefined) throw new Error('the load was not told where the product is');
const watched = watchRequests(settings.gatewayUrl);
const crowd = await openCrowd({ ...settings, gatewayUrls: [settings.gatewayUrl], codes: codesIn(settings.mailsUrl) });
let load: ReturnType<typeof startLoad> | null = null;

const answer = async ({ task, services }: LoadOrder): Promise<unknown> => {
  if (task === 'faults') return { ...(await crowd.faults()), repeated: crowd.repeated };
  if (task === 'begin') {
    Object.assign(watched, { requests: 0, connections: 0, failures: [] });
    load = startLoad(crowd, services ?? Object.keys(LOADS));
    return null;
  }
  const { turns = 0, broken = [] } = (await load?.stop()) ?? {};
  const { failures, ...counted } = watched;
  return { ...counted, turns, failures: failures.slice(0, SHOWN), broken: broken.slice(0, SHOWN) } satisfies Served;
};

// The channel's other end is the test's.
process.on('message', (order: LoadOrder) => {
  answer(order).then(
    (answered) => process.send?.({ number: order.number, answered }),
    (error: unknown) => process.send?.({ number: order.number, refused: String(error) }),
  );
});
process.send?.({ ready: true });
