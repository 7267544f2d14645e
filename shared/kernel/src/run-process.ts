import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { errorCode } from './errors.ts';
import { redacted } from './log.ts';

export interface Running {
  /** True when everything ended by itself within its time. */
  stop(): Promise<boolean>;
}

interface ProcessOptions {
  readonly name: string;
  /** Builds and starts. `stopping` aborts when the process is told to end before that is done. */
  readonly main: (stopping: AbortSignal) => Promise<Running>;
}

/** Keeps a process from starting until an operator has fixed the cause. Its message is the one line that is shown. */
export class StartupError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartupError';
  }
}

const CONFIGURATION_ERRORS = ['ConfigError', 'StartupError', 'BusUnavailable'];
const EXIT = { clean: 0, fault: 1, misconfigured: 2 } as const;
/** Below the grace period that Kubernetes gives after SIGTERM. */
const HARD_STOP_MS = 35_000;
/** Ctrl-C arrives from the terminal and again from npm and the launcher; within this time that is one request to stop. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Gives back what only the start needed, once: V8 has grown the young generation for it to 25 MB or more, and shrinks it at once only in a collection
 * that is to free as much as it can. It takes about 50 ms.
 */
const giveBackMemory = (): void => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
};

/** The life of a process: boot, SIGTERM or SIGINT at any moment, one line on stderr for what an operator must fix, an exit code that says which. */
export const runProcess = async ({ name, main }: ProcessOptions): Promise<void> => {
  const stopping = new AbortController();
  const told = Promise.withResolvers<void>();
  let toldAt = 0;
  const onSignal = () => {
    if (stopping.signal.aborted && performance.now() - toldAt > SAME_SIGNAL_MS) process.exit(EXIT.fault);
    if (stopping.signal.aborted) return;
    toldAt = performance.now();
    stopping.abort();
    told.resolve();
    setTimeout(() => process.exit(EXIT.fault), HARD_STOP_MS).unref();
  };
  // A full disk or a closed pipe must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  const fail = (error: unknown) => {
    process.stderr.write(`${name}: ${explain(error, name)}\n`);
    process.exit(exitCodeOf(error));
  };
  process.on('uncaughtException', fail).on('unhandledRejection', fail);
  try {
    const running = await main(stopping.signal);
    // Written now to NODE_COMPILE_CACHE, so that the next start is quick however this process ends.
    flushCompileCache();
    giveBackMemory();
    await told.promise;
    process.exit((await running.stop()) ? EXIT.clean : EXIT.fault);
  } catch (error) {
    if (stopping.signal.aborted && Error.isError(error) && error.name === 'AbortError') process.exit(EXIT.clean);
    fail(error);
  }
};

/** A process that does one piece of work and ends: a job of a release, a command of an operator. */
export const runJobProcess = async ({ name, work }: { readonly name: string; readonly work: () => Promise<void> }): Promise<void> => {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${name}: ${explain(error, name)}\n`);
    process.exitCode = exitCodeOf(error);
  }
};

/** Whether the configured host or port cannot be listened on: taken, not allowed, unknown, or of another machine. */
export const isAddressFault = (error: unknown): boolean =>
  ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes(String(errorCode(error))) ||
  (Error.isError(error) && 'syscall' in error && (error.syscall === 'listen' || error.syscall === 'getaddrinfo'));

const isMisconfigured = (error: unknown): boolean =>
  (Error.isError(error) && CONFIGURATION_ERRORS.includes(error.name)) || isAddressFault(error);

const exitCodeOf = (error: unknown): number => (isMisconfigured(error) ? EXIT.misconfigured : EXIT.fault);

const explain = (error: unknown, name: string): string => {
  if (!Error.isError(error)) return redacted(String(error));
  if (isMisconfigured(error)) return redacted(error.message).replaceAll('\n', `\n${name}: `);
  return redacted(error.stack ?? error.message);
};
