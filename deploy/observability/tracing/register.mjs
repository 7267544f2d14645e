import { basename, dirname } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { DiagConsoleLogger, DiagLogLevel, diag, SamplingDecision, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { useTracer } from '../../../shared/kernel/src/trace.ts';

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const SCOPE = { name: 'bubbles' };

/** `services/gateway/src/main.ts` is `gateway`, unless OTEL_SERVICE_NAME says something else. */
const serviceName = () => basename(dirname(dirname(process.argv[1] ?? '')));

const toHrTime = (ms) => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

/** An SDK span with the ids of the product's span, so that logs, calls and events name the same ids. */
const readable = ({ traceId, id, parentId, startedAt, endedAt, name, kind, attributes = {}, error = null }, resource) => {
  const contextOf = (spanId, isRemote) => ({ traceId, spanId, isRemote, traceFlags: TraceFlags.SAMPLED });
  const status =
    error === null
      ? { code: SpanStatusCode.UNSET }
      : { code: SpanStatusCode.ERROR, message: Error.isError(error) ? error.name : String(error) };
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => contextOf(id, false),
    ...(parentId !== null && { parentSpanContext: contextOf(parentId, true) }),
    startTime: toHrTime(startedAt),
    endTime: toHrTime(endedAt),
    duration: toHrTime(endedAt - startedAt),
    ended: true,
    status,
    attributes,
    links: [],
    events: [],
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
};

/** Value of a variable; an invalid value ends the process, so that no process is traced in a way that nobody configured. */
const numberOf = (name, { from, to, otherwise }) => {
  // biome-ignore lint/style/noProcessEnv: it runs before the process that reads its own variables.
  const text = process.env[name] ?? '';
  const value = text === '' ? otherwise : Number(text);
  if (value >= from && value <= to) return value;
  process.stderr.write(`${name}: must be a number from ${from} to ${to}\n`);
  process.exit(2);
};

const register = () => {
  diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.ERROR);
  // Applies to traces that begin in this process; for others the sampled flag of the caller decides.
  const sampler = new TraceIdRatioBasedSampler(numberOf('OTEL_TRACES_SAMPLER_ARG', { from: 0, to: 1, otherwise: 1 }));
  const resource = resourceFromAttributes({ 'service.name': serviceName() }).merge(detectResources({ detectors: [envDetector] }));
  const scheduledDelayMillis = numberOf('OTEL_BSP_SCHEDULE_DELAY', { from: 1, to: 60_000, otherwise: 5000 });
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis });
  useTracer({
    samples: (traceId) => sampler.shouldSample(undefined, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED,
    ended: (span) => processor.onEnd(readable(span, resource)),
  });
  const flush = (signal) => {
    processor.forceFlush().catch(() => undefined);
    // Until the process handles signals itself, a signal ends it, as it does without a tracer.
    if (process.listenerCount(signal) === 1) process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, flush);
};

// Worker threads have no spans.
if (isMainThread) register();
