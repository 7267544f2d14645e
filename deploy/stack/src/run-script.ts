import { spawn } from 'node:child_process';
import { StartupError } from '@bubbles/kernel/run-process.ts';

export interface Script {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether it may ask at the terminal, and shows what it does there. */
  readonly terminal?: boolean;
}

const ROOT = new URL('../../../', import.meta.url).pathname;

/** Runs a command of this repository to its end; answers what it printed, and refuses with what it complained of. */
export const runScript = async ({ command, args, environment, terminal = false }: Script): Promise<string> => {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: environment,
    stdio: terminal ? ['inherit', 'pipe', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  });
  const [printed, complaints] = [collect(child.stdout), collect(child.stderr)];
  const ended = Promise.withResolvers<number | null>();
  child.once('error', ended.reject).once('close', ended.resolve);
  const code = await ended.promise;
  if (code !== 0) throw new StartupError(`${args.join(' ')} ended with ${code}${terminal ? '' : `: ${complaints.join('').trim()}`}`);
  return printed.join('');
};

const collect = (stream: NodeJS.ReadableStream | null): readonly string[] => {
  const chunks: string[] = [];
  stream?.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  return chunks;
};
