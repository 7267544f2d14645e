import { COOKIES_FOR } from '@bubbles/contracts/services.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { traceparentOf } from '@bubbles/kernel/trace.ts';
import type { Admission } from '../admission/admission.ts';
import { IDENTITY, type IdentityChecks } from '../admission/identity-checks.ts';
import type { BodyAllowance } from '../balancing/body-allowance.ts';
import { RetryBudget } from '../balancing/circuit-breaker.ts';
import type { MemoryShares } from '../balancing/memory-shares.ts';
import type { Demand, Traffic } from '../balancing/traffic.ts';
import { isWithin, type Operation } from '../documents/fragment.ts';
import { type Exchange, fail } from '../exchange/exchange.ts';
import { createBodyReceiver } from '../exchange/receive-body.ts';
import type { SlowReaders } from '../exchange/slow-readers.ts';
import { forwardedRequestHeaders } from '../messages/header-rules.ts';
import { affinityOf } from '../messages/request.ts';
import type { Address, PlaceKind } from '../upstream/address.ts';
import { type AnswerHead, relay } from '../upstream/relay.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

interface ForwardLimits {
  readonly bodyTimeoutMs: number;
  /** The time that the answer of a service may take to begin. */
  readonly answerTimeoutMs: number;
  /** For the whole exchange with a service. */
  readonly exchangeTimeoutMs: number;
}

interface ForwarderOptions {
  readonly admission: Admission;
  readonly checks: IdentityChecks;
  readonly upstreams: Upstreams;
  readonly traffic: Traffic;
  readonly bodies: MemoryShares;
  readonly bodyAllowance: BodyAllowance;
  readonly readers: SlowReaders;
  readonly limits: ForwardLimits;
  readonly clock: Clock;
  readonly upstreamSeconds: { observe(labels: { readonly upstream: string }, seconds: number): void };
}

export type Forward = (exchange: Exchange, operation: Operation) => Promise<void>;

/** Which places the request takes, and what it counts as while it does. */
interface Way {
  readonly kind: PlaceKind;
  readonly demand: Demand;
}

/** Takes a request with a known operation to the service that owns it. Identity authenticates its own routes; for the others it is asked first. */
export const createForwarder = (options: ForwarderOptions): Forward => {
  const { admission, limits, clock, readers } = options;
  const budget = new RetryBudget();
  const receive = createBodyReceiver({ bodies: options.bodies, allowance: options.bodyAllowance, timeoutMs: limits.bodyTimeoutMs });
  const forward = async (exchange: Exchange, operation: Operation, { kind, demand }: Way): Promise<void> => {
    const { res, req, head, target, method } = exchange;
    // The credential is checked first, and again when it may have ended while the body was on its way.
    let admitted = await admission.admit(exchange, operation, false);
    if (admitted === null) return;
    let body: Buffer | null = null;
    if (head.hasBody) {
      const isLate = !req.complete;
      demand.end(false);
      body = await receive(exchange, operation);
      if (body === null) return;
      demand.begin();
      if (isLate) admitted = await admission.admit(exchange, operation, true);
    }
    if (admitted === null || res.destroyed) return;
    const timeoutMs = operation.timeoutMs ?? limits.answerTimeoutMs;
    // The time to the end of an answer grows with the time that its beginning may take.
    const deadline = setTimeout(expire, limits.exchangeTimeoutMs + Math.max(0, timeoutMs - limits.answerTimeoutMs), exchange);
    const startedAt = clock.monotonic();
    const headers = serviceHeaders(exchange, operation).concat(admitted.forService);
    await relay(exchange, {
      ...routeTo(exchange, { operation, kind }, options),
      request: { path: target, method, headers, body },
      timeoutMs,
      answerHeaders: admitted.forClient,
      readers,
      budget,
    });
    clearTimeout(deadline);
    options.upstreamSeconds.observe({ upstream: operation.service }, (clock.monotonic() - startedAt) / 1000);
  };
  return async (exchange, operation) => {
    const kind = kindOf(operation, limits);
    const demand = kind === 'long' ? NO_DEMAND : options.traffic.demand(exchange.caller, operation.service);
    demand.begin();
    try {
      await forward(exchange, operation, { kind, demand });
    } finally {
      demand.end(exchange.reason === null && exchange.res.writableEnded);
    }
  };
};

/** Of long requests: that viewers hold their places says nothing of how busy the service is. */
const NO_DEMAND: Demand = { begin: () => undefined, end: () => undefined };

const kindOf = ({ timeoutMs }: Operation, { answerTimeoutMs }: ForwardLimits): PlaceKind =>
  timeoutMs !== null && timeoutMs > answerTimeoutMs ? 'long' : 'usual';

/** The replica of identity that counts a credential also answers for it, and learns from the others what they have counted. */
const routeTo = (
  exchange: Exchange,
  { operation, kind }: { readonly operation: Operation; readonly kind: PlaceKind },
  { upstreams, admission, checks }: ForwarderOptions,
) => {
  const { service } = operation;
  const { credential } = exchange;
  if (service !== IDENTITY) return { kind, candidates: upstreams.candidates(service, null, kind), onMove: null, onAnswer: null };
  return {
    kind,
    candidates: upstreams.candidates(service, credential && affinityOf(credential), kind),
    onMove: (address: Address) => admission.handOver(exchange, operation, address),
    onAnswer: credential && ((answer: AnswerHead) => checks.relayed(credential.hash, answer)),
  };
};

/** A client that reads too slowly is cut; one that has seen nothing is told. */
const expire = (exchange: Exchange): void => {
  if (exchange.res.headersSent) exchange.res.destroy();
  else fail(exchange, 'upstream-timeout');
};

const serviceHeaders = (exchange: Exchange, { service, template }: Operation): string[] => {
  const { req, head, client, requestId, span, origin } = exchange;
  const isIdentity = service === IDENTITY;
  const [proto = '', host = ''] = (origin ?? '').split('://');
  const kept = forwardedRequestHeaders(req.rawHeaders, {
    head,
    keepAuthorization: isIdentity,
    cookies: (isWithin(template, '/v1') ? null : COOKIES_FOR[service]) ?? [],
  });
  kept.push('X-Request-Id', requestId, 'X-Forwarded-For', client);
  kept.push('X-Forwarded-Proto', proto, 'X-Forwarded-Host', host);
  kept.push('Traceparent', traceparentOf(span));
  return kept;
};
