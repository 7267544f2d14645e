import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type Admit, type Admitted, type HandOver, NOTHING } from '../admission/admit.ts';
import { IDENTITY } from '../admission/identity-checks.ts';
import type { MemoryShares } from '../balancing/memory-shares.ts';
import { createRetryBudget } from '../balancing/retry-budget.ts';
import { isWithin, type Operation } from '../documents/fragment.ts';
import { fail } from '../exchange/answer.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { type BodyTimes, bodyReceiver } from '../exchange/receive-body.ts';
import type { SlowReaders } from '../exchange/slow-readers.ts';
import { affinityOf } from '../messages/credential.ts';
import { forwardedRequestHeaders } from '../messages/header-rules.ts';
import { announcesBody } from '../messages/message-rules.ts';
import { acceptedTraceparent, newTraceparents } from '../messages/peer.ts';
import type { Address } from '../upstream/address.ts';
import { type AnswerHead, relay } from '../upstream/relay.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export interface ForwardLimits extends BodyTimes {
  /** The time that the answer of a service may take to begin. */
  readonly answerTimeoutMs: number;
  /** For the whole exchange with a service. */
  readonly exchangeTimeoutMs: number;
}

export interface ForwardOptions {
  readonly admit: Admit;
  readonly handOver: HandOver;
  /** What identity answered a request of its own routes. */
  readonly onIdentityAnswer: (exchange: Exchange, head: AnswerHead) => void;
  readonly upstreams: Upstreams;
  readonly bodies: MemoryShares;
  readonly readers: SlowReaders;
  readonly limits: ForwardLimits;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly onServed: (service: string, seconds: number) => void;
}

interface Entered {
  readonly admitted: Admitted;
  readonly body: Buffer | null;
}

/** Takes a request with a known operation to the service that owns it. Identity authenticates its own routes; for the others it is asked first. */
export const forwarding = (options: ForwardOptions): ((exchange: Exchange, operation: Operation) => Promise<void>) => {
  const { admit, handOver, onIdentityAnswer, upstreams, limits, clock, ids } = options;
  const budget = createRetryBudget();
  const newTrace = newTraceparents((bytes) => ids.bytes(bytes));
  const receive = bodyReceiver(options);
  const ask = (exchange: Exchange, { service, auth }: Operation, again: boolean) =>
    auth === 'none' ? NOTHING : admit(exchange, { service, auth, again });
  /** The credential is asked for first, and again when it may have ended while the body was on its way. */
  const enter = async (exchange: Exchange, operation: Operation): Promise<Entered | null> => {
    const admitted = await ask(exchange, operation, false);
    if (admitted === null || !announcesBody(exchange.head)) return admitted && { admitted, body: null };
    const isLate = !exchange.req.complete;
    const body = await receive(exchange, operation.bodyLimitBytes);
    if (body === null || !isLate) return body && { admitted, body };
    const stillAdmitted = await ask(exchange, operation, true);
    return stillAdmitted && { admitted: stillAdmitted, body };
  };
  return async (exchange, operation) => {
    const { service } = operation;
    const { res } = exchange;
    const entered = await enter(exchange, operation);
    if (entered === null || res.destroyed) return;
    const { admitted, body } = entered;
    const deadline = setTimeout(expire, limits.exchangeTimeoutMs, exchange);
    const startedAt = clock.monotonic();
    const plan = {
      candidates: upstreams.candidates(service, service === IDENTITY ? affinity(exchange) : null),
      caller: exchange.caller,
      onMove: service === IDENTITY ? (address: Address) => handOver(exchange, operation.auth, address) : null,
      onAnswer: service === IDENTITY ? (head: AnswerHead) => onIdentityAnswer(exchange, head) : null,
      headers: serviceHeaders(exchange, operation, newTrace).concat(admitted.requestHeaders),
      body,
      timeoutMs: operation.timeoutMs ?? limits.answerTimeoutMs,
      answerHeaders: admitted.answerHeaders,
      readers: options.readers,
    };
    await relay(exchange, plan, budget);
    clearTimeout(deadline);
    options.onServed(service, (clock.monotonic() - startedAt) / 1000);
  };
};

/** The replica that counts this credential also answers for it. */
const affinity = ({ credential }: Exchange): string | null => credential && affinityOf(credential);

/** A client that reads too slowly is cut; one that has seen nothing is told. */
const expire = (exchange: Exchange): void => {
  if (exchange.res.headersSent) exchange.res.destroy();
  else fail(exchange, 'upstream-timeout');
};

const serviceHeaders = (exchange: Exchange, { service, template }: Operation, newTrace: () => string): string[] => {
  const { req, head, peer, client, requestId, origin } = exchange;
  const isIdentity = service === IDENTITY;
  const [proto = '', host = ''] = (origin ?? '').split('://');
  const kept = forwardedRequestHeaders(req.rawHeaders, {
    head,
    keepAuthorization: isIdentity,
    keepCookies: isIdentity && !isWithin(template, '/v1'),
  });
  kept.push('X-Request-Id', requestId, 'X-Forwarded-For', client);
  kept.push('X-Forwarded-Proto', proto, 'X-Forwarded-Host', host);
  kept.push('Traceparent', (peer.trusted ? acceptedTraceparent(head.traceparent) : null) ?? newTrace());
  return kept;
};
