import type { RequestListener } from 'node:http';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import type { HttpMetrics } from '@bubbles/http/ops/metrics.ts';
import type { LoadShedder } from '@bubbles/http/wire/overload.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { endSpan, runInSpan, spanFields } from '@bubbles/kernel/trace.ts';
import type { Traffic } from '../balancing/traffic.ts';
import type { Operation } from '../documents/fragment.ts';
import { type OwnedPrefixes, ownerOf } from '../documents/ownership.ts';
import type { Resource } from '../documents/routing-table.ts';
import { answer, answerOptions, createExchangeOpener, type Exchange, type ExchangeOptions, fail, refuse } from '../exchange/exchange.ts';
import type { SlowReaders } from '../exchange/slow-readers.ts';
import type { FragmentPoll } from '../fragments/fragment-poll.ts';
import type { FragmentRegistry } from '../fragments/registry.ts';
import { messageFault, targetFault } from '../messages/request.ts';
import type { Forward } from './forward.ts';

interface HandlerOptions extends ExchangeOptions {
  readonly registry: FragmentRegistry;
  readonly poll: FragmentPoll;
  /** Path prefixes of the configured services. */
  readonly prefixes: OwnedPrefixes;
  readonly forward: Forward;
  readonly showPage: (exchange: Exchange) => Promise<void>;
  readonly traffic: Traffic;
  readonly readers: SlowReaders;
  readonly shedder: LoadShedder;
  readonly metrics: HttpMetrics;
  readonly log: Log;
}

/** One request from its first byte to the last of its answer. */
export const createRequestHandler = (options: HandlerOptions): RequestListener => {
  const open = createExchangeOpener(options);
  return (req, res) => {
    const exchange = open(req, res);
    serve(exchange, options).catch((error: unknown) => {
      options.log.error('request failed', { ...logFields(exchange), error });
      refuse(exchange, { error: new DomainError('internal', 'The gateway failed.', { cause: error }), close: true });
    });
  };
};

const serve = async (exchange: Exchange, options: HandlerOptions): Promise<void> => {
  const { req, res, caller } = exchange;
  const resource = lookUp(exchange, options);
  const framing = messageFault(req, exchange.head);
  const fault = framing ?? targetFault(exchange.target) ?? (exchange.origin === null ? 'The Host header is not valid.' : null);
  const passage = options.traffic.enter({ caller, service: serviceOf(exchange), isLate: !options.shedder.admit() });
  res.once('close', () => {
    passage.leave();
    record(exchange, options);
  });
  if (fault !== null) return refuse(exchange, { error: new DomainError('invalid', fault), close: framing !== null });
  if (!passage.mayEnter) {
    options.metrics.shed();
    return fail(exchange, 'overload');
  }
  if (resource !== null && exchange.method === 'OPTIONS') return answerOptions(exchange, resource.allow);
  if (resource !== null && refusesHead(exchange)) return answerHead(exchange, resource.allow);
  const operation = exchange.operation ?? (await discover(exchange, options));
  if (operation === null) return;
  await (operation.service === GATEWAY ? options.showPage(exchange) : options.forward(exchange, operation));
  if (res.writableEnded && res.writableLength > 0) options.readers.watch(exchange);
};

const serviceOf = ({ operation }: Exchange): string | null =>
  operation === null || operation.service === GATEWAY ? null : operation.service;

/** What there is at the path. Notes the operation that is asked for, whatever the credential, and the form in which it is refused. */
const lookUp = (exchange: Exchange, { registry }: HandlerOptions): Resource | null => {
  const { method, path } = exchange;
  const resource = registry.table.match(path);
  if (resource === null) return null;
  exchange.operation = resource.operations.get(method === 'HEAD' ? 'GET' : method) ?? null;
  exchange.errorFormat = (exchange.operation ?? resource).errorFormat;
  return resource;
};

/** The service answers so too. */
const answerHead = (exchange: Exchange, allow: string): void =>
  answer(exchange, { status: 405, headers: ['Allow', allow, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'], body: '' });

const refusesHead = ({ method, operation }: Exchange): boolean => method === 'HEAD' && operation?.isUnsafe === true;

const NOT_FOUND = new DomainError('not_found', 'Not found.');

/** A service may have begun to offer more since it was asked last. Answers itself and gives null when there is no such operation. */
const discover = async (exchange: Exchange, options: HandlerOptions): Promise<Operation | null> => {
  const { registry, poll, prefixes } = options;
  const owner = ownerOf(exchange.path, prefixes);
  const service = owner === GATEWAY ? null : owner;
  const { span, requestId } = exchange;
  if (service !== null) await runInSpan(span, () => poll.discover(service), { requestId });
  const resource = lookUp(exchange, options);
  if (exchange.operation !== null && !refusesHead(exchange)) return exchange.operation;
  if (resource !== null && exchange.method === 'OPTIONS') answerOptions(exchange, resource.allow);
  else if (resource !== null && refusesHead(exchange)) answerHead(exchange, resource.allow);
  else if (resource === null && service !== null && !registry.knows(service)) fail(exchange, 'upstream-down');
  else refuse(exchange, { error: NOT_FOUND, headers: resource === null ? [] : ['Allow', resource.allow] });
  return null;
};

const UNMATCHED = 'unmatched';

interface Served {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

const logFields = ({ requestId, span }: Exchange) => ({ request_id: requestId, ...spanFields(span) });

/** The template, never the path: ids, queries and tokens stay out of logs and metrics. */
const record = (exchange: Exchange, { metrics, clock, log }: HandlerOptions): void => {
  const { method, operation, res, startedAt, reason, upstream, cause, checkedInTrace } = exchange;
  const ms = clock.monotonic() - startedAt;
  const served = { method, route: operation?.template ?? UNMATCHED, status: res.statusCode };
  const fields = {
    ...logFields(exchange),
    ...served,
    ms: Math.round(ms * 10) / 10,
    ...(checkedInTrace !== null && { checkedInTrace }),
    ...(!res.writableFinished && { aborted: true }),
  };
  metrics.observe({ service: GATEWAY, ...served }, ms / 1000);
  if (reason === null) log.info('request', fields);
  else log.warn('request could not be served', { ...fields, upstream, reason, error: cause });
  recordSpan(exchange, served);
};

const recordSpan = ({ span, reason, cause, checkedInTrace }: Exchange, { method, route, status }: Served): void =>
  endSpan(span, () => ({
    name: `${method} ${route}`,
    kind: 'server',
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      ...(checkedInTrace !== null && { 'bubbles.checked_in_trace': checkedInTrace }),
      ...(reason !== null && { 'error.type': reason }),
    },
    error: cause,
  }));
