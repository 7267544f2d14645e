import { guardedConnect } from '@bubbles/address-guard/guarded-connect.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { Agent, type Dispatcher } from 'undici';
import type { AttemptOutcome } from '../../domain/delivery.ts';
import type { Receiver } from '../../ports.ts';
import { detailOfRedirect, isExhausted, isReset, outcomeOfFault } from './faults.ts';
import { idleDeaths, passOverContinue } from './socket-patches.ts';

const STOPPING = new DomainError('unavailable', 'The dispatcher is stopping.');
const KEEP_ALIVE_MS = 20_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024;
const PREVIEW_CHARACTERS = 500;

type GuardOptions = Parameters<typeof guardedConnect>[0];
interface ReceiverOptions extends GuardOptions {
  /** From the first look-up to the end of the body; a status line within it makes the outcome. */
  readonly deadlineMs: number;
  /** Monotonic milliseconds: sockets run in real time, whatever the clock of the process says. */
  readonly elapsed: () => number;
  /** Connections per origin: as many as POSTs at the same time, so that none waits for one while its deadline runs. */
  readonly connections: number;
}

/** What is read of an answer: its final status and the start of its body, not decompressed. */
interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** The `Location` header as the receiver wrote it. */
  readonly location: string | null;
}

interface PostOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly maxBytes: number;
  /** Ends the POST at any stage. */
  readonly signal: AbortSignal;
  /** Called when the request starts to be written to a connection. */
  readonly onSend: () => void;
}

const FINAL_STATUS = 200;

/**
 * One POST through undici's handler interface, without streams that would not be read. Rejects when something fails before the head of the answer has
 * arrived; a fault in the body, or its end, changes nothing.
 */
function postToReceiver(agent: Agent, { url, headers, body, maxBytes, signal, onSend }: PostOptions): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let status: number | null = null;
  let location: string | null = null;
  let controller: Dispatcher.DispatchController | null = null;
  let ended: Error | null = null;

  const end = (error: Error) => {
    ended = error;
    if (status === null) reject(error);
    else resolve({ status, body: Buffer.concat(chunks), location });
    if (controller?.aborted === false) controller.abort(error);
  };
  agent.dispatch(
    { origin: url.origin, path: `${url.pathname}${url.search}`, method: 'POST', headers, body },
    {
      onRequestStart(started) {
        controller = started;
        if (ended !== null) started.abort(ended);
        else onSend();
      },
      onResponseStart(_controller, code, headers) {
        if (code < FINAL_STATUS) return;
        status = code;
        location = typeof headers['location'] === 'string' ? headers['location'] : null;
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= maxBytes) end(new Error('Enough was read.'));
      },
      onResponseEnd() {
        if (status !== null) resolve({ status, body: Buffer.concat(chunks), location });
      },
      onResponseError: (_controller, error) => end(error),
    },
  );
  const onAbort = () => end(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return promise;
}

const outcomeOfStatus = (status: number): AttemptOutcome['outcome'] => {
  if (status === 429) return '429';
  if (status < 200) return 'protocol';
  if (status < 300) return '2xx';
  if (status < 400) return '3xx';
  return status < 500 ? '4xx' : '5xx';
};

/** Characters are code points, of at most two UTF-16 units each. */
const previewOf = (body: Buffer): string =>
  [...body.toString('utf8').slice(0, 2 * PREVIEW_CHARACTERS)].slice(0, PREVIEW_CHARACTERS).join('').replaceAll(/\p{C}/gu, ' ');

/** Posts to receivers over shared keep-alive connections, with the address guard at every connect. Redirects are not followed. */
export function createReceiver({ deadlineMs, elapsed, connections, ...guard }: ReceiverOptions): Receiver {
  const deaths = idleDeaths();
  const common = {
    connect: guardedConnect(guard, (socket) => {
      deaths.watch(socket);
      passOverContinue(socket);
    }),
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
  };
  const pooled = new Agent({
    ...common,
    connections,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  const fresh = new Agent({ ...common, pipelining: 0 });
  const inFlight = new Set<AbortController>();

  return {
    async post({ url, headers, body }): Promise<AttemptOutcome> {
      const startedAt = elapsed();
      const deadline = new AbortController();
      inFlight.add(deadline);
      const timer = setTimeout(() => deadline.abort(), deadlineMs);
      let isSent = false;
      const onSend = () => {
        isSent = true;
      };
      const send = (agent: Agent) => {
        isSent = false;
        return postToReceiver(agent, { url, headers, body, maxBytes: MAX_ANSWER_BYTES, signal: deadline.signal, onSend });
      };
      const tookMs = () => Math.round(elapsed() - startedAt);
      try {
        const answer = await send(pooled).catch((error) => {
          // The receiver closed an idle connection and may not have seen the request.
          if (isReset(error) && deaths.has(error)) return send(fresh);
          throw error;
        });
        const outcome = outcomeOfStatus(answer.status);
        const detail = outcome === '3xx' ? detailOfRedirect(answer.location, url) : null;
        return { outcome, status: answer.status, preview: previewOf(answer.body), detail, tookMs: tookMs() };
      } catch (error) {
        if (isDomainError(error)) throw error;
        const fault = outcomeOfFault(error, isSent);
        if (fault !== null) return { ...fault, status: null, preview: null, tookMs: tookMs() };
        throw isExhausted(error) ? new DomainError('unavailable', 'This process cannot connect now.', { cause: error }) : error;
      } finally {
        clearTimeout(timer);
        inFlight.delete(deadline);
      }
    },
    cut() {
      for (const ending of inFlight) ending.abort(STOPPING);
    },
    async close() {
      await Promise.all([pooled.destroy(), fresh.destroy()]);
    },
  };
}
