import type { Environment } from '@bubbles/kernel/config.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { runScript } from './run-script.ts';

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
