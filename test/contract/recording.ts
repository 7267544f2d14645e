import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../architecture/sources.ts';
import { readJson, written } from '../released/releases.ts';
import type { PactFile } from './pact-files.ts';

/** Where providers leave what they answered while they were held to their pacts; `npm run release` keeps it. */
export const RECORDED = join(ROOT, 'node_modules/.cache/recorded-answers');

const Answer = z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.unknown() });
const Recorded = z.object({
  interactions: z.array(
    z.object({
      consumer: z.string(),
      description: z.string(),
      states: z.array(z.string()),
      method: z.string(),
      path: z.string(),
      answer: Answer,
    }),
  ),
  /** The last of each type. */
  messages: z.record(z.string(), z.unknown()),
});
export type Recorded = z.infer<typeof Recorded>;
export const readRecorded = (path: string): Recorded => Recorded.parse(readJson(path));

export const listen = async (handle: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>) => {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(Error.isError(error) ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`, close };
};

const TAG = 'x-recorded-as';
const PASSED_ON = new Set(['authorization', 'content-type', 'accept', 'x-internal-assertion', 'idempotency-key', 'if-none-match']);
const KEPT_HEADERS = ['content-type', 'etag', 'location', 'retry-after'];

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** The pact with a header on each request that says which interaction it is. */
const tagged = (pact: PactFile): object => ({
  ...pact,
  interactions: pact.interactions.map((interaction, index) => {
    const { request } = interaction;
    return request === undefined
      ? interaction
      : { ...interaction, request: { ...request, headers: { ...request.headers, [TAG]: [`${pact.consumer.name} ${index}`] } } };
  }),
});

/** Stands between the verifier and a provider, and writes down what the provider answers. */
export const recorder = async (provider: string, providerUrl: string | undefined, pacts: readonly PactFile[]) => {
  const answers = new Map<string, Recorded['interactions'][number]>();
  const messages: Record<string, unknown> = {};
  const interactionOf = (tag: string) => {
    const [consumer = '', index = ''] = tag.split(' ');
    return pacts.find((pact) => pact.consumer.name === consumer)?.interactions[Number(index)];
  };
  const passOn = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url: path = '/' } = request;
    const sent = Buffer.concat(await request.toArray());
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      PASSED_ON.has(name) ? [[name, String(value)] as [string, string]] : [],
    );
    const answer = await fetch(`${providerUrl}${path}`, { method, headers, redirect: 'manual', ...(sent.length > 0 && { body: sent }) });
    const text = await answer.text();
    const kept = Object.fromEntries(
      KEPT_HEADERS.flatMap((name) => (answer.headers.has(name) ? [[name, answer.headers.get(name) ?? '']] : [])),
    );
    const tag = String(request.headers[TAG] ?? '');
    const interaction = interactionOf(tag);
    if (interaction)
      answers.set(tag, {
        consumer: tag.split(' ')[0] ?? '',
        description: interaction.description,
        states: interaction.providerStates.map(({ name }) => name),
        method,
        path: path.split('?')[0] ?? path,
        answer: { status: answer.status, headers: kept, body: json(text) },
      });
    response.writeHead(answer.status, kept).end(text);
  };
  const server = await listen(passOn);
  return {
    url: server.url,
    pacts: pacts.map(tagged),
    hear: (type: string, message: unknown) => {
      messages[type] = message;
    },
    keep: async () => {
      await server.close();
      mkdirSync(RECORDED, { recursive: true });
      writeFileSync(join(RECORDED, `${provider}.json`), written({ interactions: [...answers.values()], messages }));
    },
  };
};
