import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
});
const Attribute = z.object({ key: z.string(), value: z.object({ stringValue: z.string().optional() }) });
/** What of OTLP in JSON the tests read. */
const Exported = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes: z.array(Attribute) }), scopeSpans: z.array(z.object({ spans: z.array(Span) })) }),
  ),
});

export interface CollectedSpan extends z.infer<typeof Span> {
  readonly service: string | undefined;
}

/** A collector of OpenTelemetry that keeps every span it gets. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Those of a trace, once all of these names have come: spans arrive in batches, and how many a trace has may depend on what is cached. */
  spansOf(traceId: string, names: readonly string[]): Promise<readonly CollectedSpan[]>;
  close(): void;
}

export const startCollector = async (): Promise<Collector> => {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (req, res) => {
    const sent = await text(req).catch(() => null);
    // Its sender has ended over it.
    if (sent === null) return;
    for (const { resource, scopeSpans } of Exported.parse(JSON.parse(sent)).resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
      for (const scope of scopeSpans) for (const span of scope.spans) spans.push({ ...span, service });
    }
    res.setHeader('Content-Type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    spans,
    async spansOf(traceId, names) {
      for (;;) {
        const found = spans.filter((span) => span.traceId === traceId);
        const missing = found.reduce((left, { name }) => (left.includes(name) ? left.toSpliced(left.indexOf(name), 1) : left), names);
        if (missing.length === 0) return found;
        await new Promise(setImmediate);
      }
    },
    close: () => void server.close(),
  };
};
