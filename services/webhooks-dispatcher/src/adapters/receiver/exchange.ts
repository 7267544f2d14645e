import type { Agent, Dispatcher } from 'undici';

/** What is looked at of an answer: its final status, and the first of its body as it came. */
export interface Exchanged {
  readonly status: number;
  readonly body: Buffer;
  /** Where a redirect leads, as the receiver wrote it. */
  readonly location: string | null;
}

export interface ExchangeOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly maxBytes: number;
  /** Ends the exchange wherever it is. */
  readonly signal: AbortSignal;
  /** From now on the request is written to a connection. */
  readonly onSend: () => void;
}

const FINAL_STATUS = 200;

/**
 * One POST on undici's own interface to handlers, without the streams that nobody would read. Rejects with what went wrong before the head of the answer;
 * what is wrong with a body, and where it is cut off, changes nothing.
 */
export function exchange(agent: Agent, { url, headers, body, maxBytes, signal, onSend }: ExchangeOptions): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
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
