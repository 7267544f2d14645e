import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Engines, enginesDown, enginesUp } from '../../../deploy/stack/src/engines.ts';

/** Engines of a test's own, which may be ended at any moment. */
export interface FrailEngines extends Engines {
  /** A store that is killed loses what it has answered, unless it was asked to survive that. */
  kill(engine: 'broker' | 'mongo'): Promise<void>;
  /** In good order. */
  stop(engine: 'mongo'): Promise<void>;
  /** Resolves when its processes stand still. After so long they go on where they stood, and then it is over. */
  freeze(engine: 'broker' | 'mongo', ms: number): Promise<{ over(): Promise<void> }>;
  /** An order to the broker in the words of its rabbitmqctl; what it printed. */
  ctl(...words: readonly string[]): Promise<string>;
  /** What the broker has of each queue. */
  queues(): Promise<readonly QueueState[]>;
  /** Starts what was ended, at its address. */
  revive(): Promise<void>;
  close(): Promise<void>;
}

export interface QueueState {
  readonly name: string;
  readonly consumers: number;
  /** Waiting for a consumer. */
  readonly ready: number;
  readonly unacknowledged: number;
}

const SCRIPT = new URL('../../../deploy/engines/engines.sh', import.meta.url).pathname;
const SECOND_STORE = new URL('../../../deploy/engines/secantusdb.sh', import.meta.url).pathname;
const run = promisify(execFile);
/** Beyond what the script itself gives an engine to start or to end. */
const LIMIT_MS = 4 * 60_000;

export interface FrailEnginesOptions {
  /** What the store has answered survives its end in good order; with `kills`, which is SecantusDB as a replica set of one member, being killed too. */
  readonly storeSurvives?: 'nothing' | 'stops' | 'kills';
}

export const frailEngines = async ({ storeSurvives = 'nothing' }: FrailEnginesOptions = {}): Promise<FrailEngines> => {
  const { PATH, HOME, RABBITMQ_BIN } = process.env;
  const SECANTUSDB_BIN = storeSurvives === 'kills' ? (await run('bash', [SECOND_STORE])).stdout.trim() : process.env['SECANTUSDB_BIN'];
  const home = mkdtempSync(join(tmpdir(), 'engines-'));
  const MONGO_KEEPS = storeSurvives === 'nothing' ? '' : '1';
  const environment = { PATH, HOME, RABBITMQ_BIN, SECANTUSDB_BIN, MONGO_KEEPS, ENGINES_HOME: home };
  const order = async (...words: readonly string[]): Promise<string> =>
    (await run('bash', [SCRIPT, ...words], { env: environment, timeout: LIMIT_MS, killSignal: 'SIGKILL' })).stdout;
  const signal = async (engine: string, name: NodeJS.Signals): Promise<void> => {
    await order('signal', engine, name.replace('SIG', ''));
  };
  const ctl = (...words: readonly string[]) => order('ctl', ...words);
  const close = async () => {
    await enginesDown(environment);
    rmSync(home, { recursive: true, force: true });
  };
  const urls = await enginesUp(environment).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    ...urls,
    close,
    ctl,
    kill: (engine) => signal(engine, 'SIGKILL'),
    stop: (engine) => signal(engine, 'SIGTERM'),
    async freeze(engine, ms) {
      await signal(engine, 'SIGSTOP');
      const goesOn = pause(ms).then(() => signal(engine, 'SIGCONT'));
      return { over: () => goesOn };
    },
    async queues() {
      const columns = ['name', 'consumers', 'messages_ready', 'messages_unacknowledged'];
      const table = await ctl('--quiet', '--no-table-headers', 'list_queues', ...columns);
      return table
        .split('\n')
        .filter((line) => line !== '')
        .map(queueState);
    },
    async revive() {
      await order('up');
    },
  };
};

const queueState = (line: string): QueueState => {
  const [name = '', consumers, ready, unacknowledged] = line.split('\t');
  return { name, consumers: Number(consumers), ready: Number(ready), unacknowledged: Number(unacknowledged) };
};
