import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { messageFault, readHead, targetFault } from '@bubbles/gateway/messages/request.ts';
import { standaloneReference } from '@bubbles/gateway/pages/standalone-reference.ts';
import { createHttpApp } from '@bubbles/http/routes/app.ts';
import { answerOf } from '@bubbles/http/routes/http-errors.ts';
import { parseAuthority } from '@bubbles/http/wire/framing.ts';
import { NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type CallerRules, callerRefusal } from './callers.ts';
import { PREFIX } from './control-document.ts';
import { controlRoutes, type SandboxControl } from './routes.ts';

/** A step of the clock over months of retries takes its time. */
const BUDGET_MS = 10 * 60_000;

const CONTROL_TARGET = new RegExp(`^${PREFIX}(?:[/?]|$)`);
const REFERENCE = { path: `${PREFIX}/docs`, title: 'Sandbox control plane', document: `${PREFIX}/openapi.json` };

interface ControlOptions {
  readonly callers: CallerRules;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Takes the requests of the control plane before the gateway's handler. */
export function controlApp(control: SandboxControl, { callers, log, clock, ids }: ControlOptions) {
  const serve = createHttpApp({
    name: 'sandbox',
    routes: controlRoutes(control),
    guardPorts: null,
    log,
    clock,
    ids,
    metrics: { observe: () => undefined, shed: () => undefined },
    shedder: NO_SHEDDING,
    publicBaseUrl: '',
    budgetMs: BUDGET_MS,
    tellsFaults: true,
  }).callback();
  // The pages contain no data of the world, so links from other sites may lead to them.
  const showReference = standaloneReference({ reference: REFERENCE, leading: [PREFIX, `${PREFIX}/`, `${REFERENCE.path}/`], ids, log });
  const take = (req: IncomingMessage, res: ServerResponse): void => {
    if (showReference(req, res)) return;
    const refusal = callerRefusal(req, callers);
    if (refusal !== null) {
      refuse(res, refusal, ids);
      return;
    }
    // Nothing passes on the connection meanwhile, which is no reason to end it.
    req.socket.setTimeout(0);
    serve(req, res).catch((error: unknown) => {
      log.error('a control call failed', { error });
      res.destroy();
    });
  };
  return (handler: RequestListener): RequestListener =>
    (req, res) =>
      CONTROL_TARGET.test(req.url ?? '') && isWellFormed(req) ? take(req, res) : handler(req, res);
}

/** What is not, the gateway refuses whatever its path. */
const isWellFormed = (req: IncomingMessage): boolean => {
  const head = readHead(req.rawHeaders);
  const [host = ''] = head.hosts;
  return messageFault(req, head) === null && targetFault(req.url ?? '') === null && parseAuthority(host) !== null;
};

/** Before anything of the request is read, with the headers of every other answer. */
const refuse = (res: ServerResponse, refusal: DomainError, ids: Ids): void => {
  const { status, body } = answerOf(refusal, '');
  const headers = { 'X-Request-Id': ids.uuid(), 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };
  res
    .writeHead(status, { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) })
    .end(body);
};
