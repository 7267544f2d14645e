import type { RequestListener, ServerResponse } from 'node:http';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Address } from '../wire/listen.ts';
import { type Drain, type HttpServer, type Limits, SERVICE_LIMITS, startServer } from '../wire/server.ts';
import { type Metrics, showReadiness } from './metrics.ts';

interface HttpHostOptions {
  readonly handler: RequestListener;
  readonly listen: Address;
  /** Where probes and metrics are served; null for nowhere. */
  readonly ops: Address | null;
  readonly limits: Limits;
  readonly drain: Drain;
  readonly ids: Ids;
  readonly metrics: Metrics;
  /** Why no traffic should come, null when it may; draining and starting are known here already. */
  readonly notReady: () => Promise<string | null>;
  /** Problems that do not make the process unready, one line each, for operators. */
  readonly warnings?: () => readonly string[];
  /** What the start is waiting for; null when unknown. */
  readonly whyStarting?: () => string | null;
  /** Further pages beside the probes, by path, shown as JSON. */
  readonly documents?: Readonly<Record<string, () => unknown>>;
}

/** A listener with its probes: what every process on the wire has, the gateway too. */
interface HttpHost {
  readonly url: string;
  readonly opsUrl: string | null;
  /** Starts to listen. Until then connections are refused, so that callers use another replica. */
  open(): Promise<void>;
  /** Not ready, then the grace for balancers, then everything in flight; true when nothing had to be cut. */
  drain(): Promise<boolean>;
  /** The probes go last. */
  close(): Promise<void>;
}

export const hostHttp = async (options: HttpHostOptions): Promise<HttpHost> => {
  let phase: 'starting' | 'serving' | 'draining' = 'starting';
  const server = await startServer({
    handler: options.handler,
    address: options.listen,
    limits: options.limits,
    ids: options.ids,
    offTheWire: true,
  });
  /** While starting, the answer also says what the start is waiting for. */
  const notReady = async () => {
    if (phase === 'serving') return await options.notReady();
    if (phase === 'draining') return phase;
    const why = options.whyStarting?.() ?? (await options.notReady());
    return why === null ? phase : `${phase}: ${why}`;
  };
  const ops = options.ops && (await startProbes(options.ops, { ...options, notReady }));
  return {
    url: server.url,
    opsUrl: ops?.url ?? null,
    open: async () => {
      await server.restore();
      phase = 'serving';
    },
    drain: () => {
      phase = 'draining';
      return server.drain(options.drain);
    },
    close: async () => {
      await server.cut();
      await ops?.cut();
    },
  };
};

type ProbeOptions = Pick<HttpHostOptions, 'ids' | 'metrics' | 'notReady' | 'warnings' | 'documents'>;

/** `/startupz` (configuration parsed, listening), `/livez` (the event loop turns, nothing else), `/readyz` and `/metrics`, off the public port. */
const startProbes = (
  address: Address,
  { ids, metrics, notReady, warnings = () => [], documents = {} }: ProbeOptions,
): Promise<HttpServer> => {
  showReadiness(metrics, notReady);
  const say = (res: ServerResponse, status: number, text: string) =>
    res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
  const pages: Record<string, (res: ServerResponse) => Promise<unknown> | unknown> = {
    '/startupz': (res) => say(res, 200, 'started'),
    '/livez': (res) => say(res, 200, 'alive'),
    '/readyz': async (res) => {
      const reason = await notReady();
      say(res, reason === null ? 200 : 503, [reason ?? 'ready', ...warnings()].join('\n'));
    },
    '/metrics': async (res) => {
      const text = await metrics.registry.metrics();
      res.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(text);
    },
  };
  for (const [path, document] of Object.entries(documents))
    pages[path] = (res) => res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(document()));
  const handler: RequestListener = async (req, res) => {
    const page = Object.hasOwn(pages, req.url ?? '') ? pages[req.url ?? ''] : undefined;
    await (page ?? (() => say(res, 404, 'not found')))(res);
  };
  return startServer({ handler, address, limits: SERVICE_LIMITS, ids });
};
