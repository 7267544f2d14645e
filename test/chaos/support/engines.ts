import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Engines, enginesDown, enginesUp } from '../../../deploy/stack/src/engines.ts';

/** Engines of a test's own, which may be ended at any moment. */
export interface FrailEngines extends Engines {
  kill(engine: 'broker'): Promise<void>;
  /** In good order: the MongoDB-compatible engine loses what it has not written when it is killed. */
  stop(engine: 'mongo'): Promise<void>;
  /** Starts what was ended, at its address. */
  revive(): Promise<void>;
  close(): Promise<void>;
}

const SCRIPT = new URL('../../../deploy/engines/engines.sh', import.meta.url).pathname;
const run = promisify(execFile);
/** Beyond what the script itself gives an engine to start or to end. */
const LIMIT_MS = 90_000;

export const frailEngines = async ({ mongoKeeps = false }: { readonly mongoKeeps?: boolean } = {}): Promise<FrailEngines> => {
  const home = mkdtempSync(join(tmpdir(), 'engines-'));
  const environment = { PATH: process.env['PATH'], ENGINES_HOME: home, MONGO_KEEPS: mongoKeeps ? '1' : '' };
  const order = async (...words: readonly string[]) => {
    await run('bash', [SCRIPT, ...words], { env: environment, timeout: LIMIT_MS, killSignal: 'SIGKILL' });
  };
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
    kill: (engine) => order('signal', engine, 'KILL'),
    stop: (engine) => order('signal', engine, 'TERM'),
    revive: () => order('up'),
  };
};
