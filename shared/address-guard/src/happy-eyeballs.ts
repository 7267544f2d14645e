/** RFC 8305, section 8: between two attempts, unless the first one fails before. */
const CONNECTION_ATTEMPT_DELAY_MS = 250;
/** How long a further address is waited for when all before it have failed. Name servers that never answer for one family are common. */
const LAST_ADDRESS_MS = 250;
/** Number of addresses that fit into the five seconds of a connect; further addresses are not tried. */
const MAX_ATTEMPTS = 20;
/** They say that our network leads nowhere there, and nothing of the destination. */
const NO_ROUTE = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EHOSTUNREACH', 'EAFNOSUPPORT']);

interface Race<T> {
  readonly addresses: AsyncIterable<string>;
  /** Connects, until the signal aborts. */
  readonly open: (address: string, signal: AbortSignal) => Promise<T>;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Ends the whole race, with its reason. */
  readonly signal: AbortSignal;
}

const codeOf = (error: unknown): unknown => (typeof error === 'object' && error !== null && 'code' in error ? error.code : null);

/**
 * The first connection that comes about (RFC 8305, section 5): the next address is tried while the attempts before go on, each of which has all the time
 * that there is. Rejects when there is none, with the fault that says most.
 */
export function firstToConnect<T extends { destroy(): unknown }>({ addresses, open, sleep, signal }: Race<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const over = new AbortController();
  const faults: unknown[] = [];

  const end = (tell: () => void) => {
    tell();
    over.abort();
  };
  const attempt = async (address: string): Promise<void> => {
    try {
      const connection = await open(address, over.signal);
      if (over.signal.aborted) connection.destroy();
      else end(() => resolve(connection));
    } catch (error) {
      faults.push(error);
    }
  };
  const tryAll = async (): Promise<void> => {
    const begun: Promise<void>[] = [];
    const source = addresses[Symbol.asyncIterator]();
    const allFailed = async (): Promise<null> => {
      await Promise.all(begun);
      await sleep(LAST_ADDRESS_MS);
      return null;
    };
    const next = (): Promise<string | null> => {
      const found = source.next().then(({ done, value }) => (done ? null : value));
      return begun.length === 0 ? found : Promise.race([found, allFailed()]);
    };
    for (let address = await next(); address !== null && !over.signal.aborted; address = await next()) {
      const one = attempt(address);
      begun.push(one);
      if (begun.length === MAX_ATTEMPTS) break;
      await Promise.race([one, sleep(CONNECTION_ATTEMPT_DELAY_MS)]);
    }
    await Promise.all(begun);
    throw faults.find((fault) => !NO_ROUTE.has(String(codeOf(fault)))) ?? faults[0];
  };

  const onAbort = () => end(() => reject(signal.reason));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  tryAll().catch((error: unknown) => end(() => reject(error)));
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
}
