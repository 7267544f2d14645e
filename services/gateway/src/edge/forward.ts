import type { Clock } from '@bubbles/shared/clock.ts';
import { isDomainError } from '@bubbles/shared/errors.ts';
import { JSON_BODY_LIMIT_BYTES } from '@bubbles/shared/http/json-body.ts';
import { BodyTooLarge, readBody } from '@bubbles/shared/http/read-body.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import { type Admit, type Admitted, refuseWithout } from '../admission/admit.ts';
import { affinityOf, credentialOf } from '../admission/credential.ts';
import { IDENTITY } from '../admission/identity-checks.ts';
import { isWithin, type Operation } from '../domain/fragment.ts';
import { forwardedRequestHeaders } from '../domain/header-rules.ts';
import { announcesBody } from '../domain/message-rules.ts';
import { acceptedTraceparent, clientAddress, newTraceparents, type TrustedProxies } from '../domain/peer.ts';
import { createRetryBudget } from '../domain/retry-budget.ts';
import { relay } from '../upstream/relay.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { fail, refuse } from './answer.ts';
import { type BodyMemory, declaredSize } from './body-memory.ts';
import type { Exchange } from './exchange.ts';

export interface ForwardLimits {
  readonly maxBodyBytes: number;
  /** The time that the answer of a service may take to begin. */
  readonly answerTimeoutMs: number;
  /** For the whole exchange with a service. */
  readonly exchangeTimeoutMs: number;
}

export interface ForwardOptions {
  readonly admit: Admit;
  readonly upstreams: Upstreams;
  readonly bodies: BodyMemory;
  readonly proxies: TrustedProxies;
  readonly limits: ForwardLimits;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly onServed: (service: string, seconds: number) => void;
}

/** Names what the services take of a body. The gateway's own limit is wider: below it the owner of the route refuses, after whom it may not let in. */
const TOO_LARGE = new BodyTooLarge(JSON_BODY_LIMIT_BYTES);
const NOTHING: Admitted = { requestHeaders: [], answerHeaders: [] };

/** Takes a request with a known operation to the service that owns it. Identity authenticates its own routes; for the others it is asked first. */
export const forwarding = (options: ForwardOptions): ((exchange: Exchange, operation: Operation) => Promise<void>) => {
  const { admit, upstreams, proxies, limits, clock, ids } = options;
  const budget = createRetryBudget();
  const newTrace = newTraceparents((bytes) => ids.bytes(bytes));
  return async (exchange, operation) => {
    const { service } = operation;
    const { res } = exchange;
    const admitted = await admittance(exchange, operation, admit);
    if (admitted === null) return;
    await withBody(exchange, options, async (body) => {
      if (res.destroyed) return;
      const deadline = setTimeout(expire, limits.exchangeTimeoutMs, exchange);
      res.once('close', () => clearTimeout(deadline));
      const startedAt = clock.monotonic();
      const plan = {
        candidates: upstreams.candidates(service, service === IDENTITY ? affinity(exchange) : null),
        headers: [...serviceHeaders(exchange, operation, { proxies, newTrace }), ...admitted.requestHeaders],
        body,
        timeoutMs: operation.timeoutMs ?? limits.answerTimeoutMs,
        answerHeaders: admitted.answerHeaders,
      };
      await relay(exchange, plan, budget);
      options.onServed(service, (clock.monotonic() - startedAt) / 1000);
    });
  };
};

/** Identity decides about the credentials of its own routes itself. */
const admittance = (exchange: Exchange, { service, auth }: Operation, admit: Admit): Admitted | null | Promise<Admitted | null> => {
  if (auth === 'none') return NOTHING;
  if (service !== IDENTITY) return admit(exchange, service, auth);
  return credentialOf(exchange.head.authorization) === null ? refuseWithout(exchange) : NOTHING;
};

/** The replica that counts this credential also answers for it. */
const affinity = ({ head }: Exchange): string | null => {
  const credential = credentialOf(head.authorization);
  return credential === null ? null : affinityOf(credential);
};

/** Reads the body before a connection is taken, so that a slow sender holds up nobody but itself. */
const withBody = async (
  exchange: Exchange,
  { bodies, limits }: ForwardOptions,
  use: (body: Buffer | null) => Promise<void>,
): Promise<void> => {
  const { head, req, res } = exchange;
  if (!announcesBody(head)) return use(null);
  const size = Math.min(declaredSize(head, limits.maxBodyBytes), limits.maxBodyBytes);
  if (!bodies.reserve(size)) return fail(exchange, 'overload');
  try {
    await use(await readBody(req, res, limits.maxBodyBytes));
  } catch (error) {
    if (!isDomainError(error)) throw error;
    refuse(exchange, { error: error instanceof BodyTooLarge ? TOO_LARGE : error });
  } finally {
    bodies.release(size);
  }
};

/** A client that reads too slowly is cut; one that has seen nothing is told. */
const expire = (exchange: Exchange): void => {
  if (exchange.res.headersSent) exchange.res.destroy();
  else fail(exchange, 'upstream-timeout');
};

interface OurHeaders {
  readonly proxies: TrustedProxies;
  readonly newTrace: () => string;
}

const serviceHeaders = (exchange: Exchange, { service, template }: Operation, { proxies, newTrace }: OurHeaders): string[] => {
  const { req, head, peer, requestId, origin } = exchange;
  const isIdentity = service === IDENTITY;
  const [proto = '', host = ''] = (origin ?? '').split('://');
  const kept = forwardedRequestHeaders(req.rawHeaders, {
    head,
    keepAuthorization: isIdentity,
    keepCookies: isIdentity && !isWithin(template, '/v1'),
  });
  kept.push('X-Request-Id', requestId, 'X-Forwarded-For', clientAddress({ peer: peer.address, forwarded: head.forwarded, proxies }));
  kept.push('X-Forwarded-Proto', proto, 'X-Forwarded-Host', host);
  kept.push('Traceparent', (peer.trusted ? acceptedTraceparent(head.traceparent) : null) ?? newTrace());
  return kept;
};
