import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@bubbles/shared/clock.ts';
import { DomainError } from '@bubbles/shared/errors.ts';
import { answerOf } from '@bubbles/shared/http/http-errors.ts';
import { createHttpApp } from '@bubbles/shared/http/mount.ts';
import { NO_SHEDDING } from '@bubbles/shared/http/overload.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Log } from '@bubbles/shared/log.ts';
import { controlRoutes, type Stage } from './routes.ts';

const PREFIX = '/_sandbox/';
/** A step of the clock over months of retries takes its time. */
const BUDGET_MS = 10 * 60_000;

const nobody = () => Promise.reject(new DomainError('unauthorized', 'The control plane takes no credential.'));

const FOREIGN = answerOf(new DomainError('forbidden', 'The control plane is not for web pages of other origins.'), '');

/** A page that is open in a browser on this machine reaches its loopback addresses, and a POST of text needs no leave; browsers say where it comes from. */
const isForeign = ({ headers: { origin, host } }: IncomingMessage): boolean => {
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
};

/** Takes the requests of the control plane before the gateway routes them; true when it has. */
export function controlApp(stage: Stage, { log, clock, ids }: { readonly log: Log; readonly clock: Clock; readonly ids: Ids }) {
  const serve = createHttpApp({
    name: 'sandbox',
    routes: controlRoutes(stage),
    authenticator: { admit: nobody },
    internalAuth: { verify: nobody },
    log,
    clock,
    ids,
    metrics: { served: () => undefined },
    shedder: NO_SHEDDING,
    publicBaseUrl: '',
    budgetMs: BUDGET_MS,
  }).callback();
  return (req: IncomingMessage, res: ServerResponse): boolean => {
    if (!req.url?.startsWith(PREFIX)) return false;
    if (isForeign(req)) {
      res.writeHead(FOREIGN.status, { 'content-type': 'application/json' }).end(FOREIGN.body);
      return true;
    }
    // Nothing passes on the connection meanwhile, which is no reason to end it.
    req.socket.setTimeout(0);
    serve(req, res).catch((error: unknown) => {
      log.error('a control call failed', { error });
      res.destroy();
    });
    return true;
  };
}
