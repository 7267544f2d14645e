import { spawn } from 'node:child_process';
import type { Environment } from '@bubbles/kernel/config.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';

export interface Engines {
  readonly amqpUrl: string;
  readonly mongoUrl: string;
}

const engines = (command: string, environment: Environment, terminal = false): Promise<string> =>
  runScript({ command: 'bash', args: ['deploy/engines/engines.sh', command], environment, terminal });

/** Starts those that do not run; what `AMQP_URL` and `MONGODB_URL` name is used as it is. */
export const enginesUp = async (environment: Environment, { terminal = false } = {}): Promise<Engines> => {
  const lines = (await engines('up', environment, terminal)).split('\n').map((line) => /^(\w+)=(.+)$/.exec(line));
  const urlNamed = (name: string): string => {
    const value = lines.find((match) => match?.[1] === name)?.[2];
    if (value === undefined) throw new StartupError(`the engines do not say their ${name}`);
    return value;
  };
  return { amqpUrl: urlNamed('AMQP_URL'), mongoUrl: urlNamed('MONGODB_URL') };
};

/** Answers what is lost with them, in words. */
export const enginesDown = (environment: Environment): Promise<string> => engines('down', environment);

/** Whether both of this checkout's own run. */
export const enginesRun = (environment: Environment): Promise<boolean> =>
  engines('status', environment).then(
    () => true,
    () => false,
  );

interface Script {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Root folder of the sources to run. */
  readonly root?: string | undefined;
  /** Whether it may ask at the terminal, and shows what it does there. */
  readonly terminal?: boolean;
}

const ROOT = new URL('../../../', import.meta.url).pathname;

/** Runs a command to its end; answers what it printed, and refuses with what it complained of. */
export const runScript = async ({ command, args, environment, root = ROOT, terminal = false }: Script): Promise<string> => {
  const child = spawn(command, args, {
    cwd: root,
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
