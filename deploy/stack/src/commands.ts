import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OPERATED } from '@bubbles/contracts/services.ts';
import { settingsIn } from '@bubbles/host/variables.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { PRODUCT } from '@bubbles/services/product.ts';
import type { StackConfig } from './config.ts';
import { enginesDown, enginesRun, enginesUp } from './engines.ts';
import { forgetState, keepState, readState, type StackState, withLock } from './home.ts';
import { defaultReplicas, engineAccess } from './plan.ts';
import { isReady } from './readiness.ts';
import { openStack, type Stack } from './stack.ts';

interface CommandOptions extends StackConfig {
  /** For the engines: theirs are the paths of this machine, and the URLs of what is there already. */
  readonly environment: Environment;
}

/** Answers what to print. */
type Command = (options: CommandOptions) => Promise<string>;

/** Null when there is no such command. */
export const stackCommand = (word: string): Command | null => {
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  return command ?? null;
};

const DRAIN_NOTICE = '1s';

const settings = (environment: Environment) => settingsIn(PRODUCT.definitions, environment);

const runningOf = (stack: Stack) => stack.plans.filter((plan) => stack.processes.isRunning(plan));

const up: Command = (options) =>
  withLock(options.home, async () => {
    const known = readState(options.home);
    const isUp = known !== null && runningOf(openStack({ ...options, ...known })).length > 0;
    if (isUp && known.layout.port !== options.port)
      throw new StartupError(`a stack is up on port ${known.layout.port} already; \`npm run stack -- down\` ends it`);
    const changed = isUp ? changedIn(options, known) : [];
    if (changed.length > 0) throw new StartupError(`a stack is up with another ${changed.join(', ')}; \`npm run stack -- down\` ends it`);
    const state = isUp ? known : await prepare(options, known);
    keepState(options.home, state);
    const stack = openStack({ ...options, ...state });
    await stack.up().catch((error: unknown) => {
      if (!state.ownEngines || !Error.isError(error)) throw error;
      throw new StartupError(`${error.message}\nThe engines run on; \`npm run stack -- down\` ends them.`, error);
    });
    return welcome(options.home, state, stack);
  });

/** Names of the variables that say something else than when the stack was started. */
const changedIn = ({ environment, logins, shedding }: CommandOptions, { layout }: StackState): readonly string[] => [
  ...Object.entries(settings(environment)).flatMap(([name, value]) => (layout.settings[name] === value ? [] : [name])),
  ...(layout.logins === loginsAt(logins) ? [] : ['STACK_LOGINS']),
  ...(layout.shedding === shedding ? [] : ['SHEDDING']),
];

const loginsAt = (folder: string | null): string | undefined => (folder === null ? undefined : resolve(folder));

const prepare = async ({ environment, home, port, logins, shedding }: CommandOptions, known: StackState | null): Promise<StackState> => {
  // An `up` that failed has left the engines that it started.
  const ownEngines = known?.ownEngines || !(await enginesRun(environment));
  const layout = {
    port,
    logins: loginsAt(logins),
    folder: resolve(home),
    databasePrefix: '',
    replicas: defaultReplicas(),
    drainNotice: DRAIN_NOTICE,
    shedding,
  };
  const engines = await enginesUp(environment, { terminal: true });
  return { layout: { ...layout, ...engines, settings: settings(environment) }, ownEngines };
};

const down: Command = (options) =>
  withLock(options.home, async () => {
    const state = readState(options.home);
    if (state === null) return 'No stack is up.\n';
    const stack = openStack({ ...options, ...state });
    const ended = runningOf(stack).length;
    await stack.down();
    const lost = state.ownEngines ? await enginesDown(options.environment) : 'The engines run on, with all data.\n';
    forgetState(options.home);
    return `${ended} processes have ended${state.ownEngines ? ', and so have the engines' : ''}.\n${lost}`;
  });

const status: Command = async (options) => {
  const state = existsSync(options.home) ? readState(options.home) : null;
  if (state === null) throw new StartupError('no stack is up');
  const stack = openStack({ ...options, ...state });
  const lines = await Promise.all(
    stack.plans.map(async (plan) => {
      const condition = stack.processes.isRunning(plan) ? ((await isReady(plan)) ? 'ready' : 'not ready') : 'does not run';
      return { ready: condition === 'ready', text: `${plan.name.padEnd(24)} ${plan.url}  ${condition}\n` };
    }),
  );
  const report = lines.map(({ text }) => text).join('');
  if (!lines.every(({ ready }) => ready)) throw new StartupError(`not everything is ready\n${report}`);
  return report;
};

const COMMANDS: Readonly<Record<string, Command>> = { up, down, status };

/** What an operator sees when everything answers. */
const welcome = (home: string, { layout }: StackState, stack: Stack): string => {
  const [gateway = '', ...others] = stack.plansOf('gateway').map(({ url }) => url);
  const { broker, store } = engineAccess(layout, 'admin');
  const engines = Object.entries(layout.logins === undefined ? { ...broker, ...store } : broker);
  const urls = engines.map(([name, value]) => `${name}='${value}'`).join(' ');
  const operated = OPERATED.map(({ service, urlVariable }) => `${urlVariable}=${stack.plansOf(service)[0]?.url}`);
  return `
${stack.plans.length} processes run and are ready; their logs are in ${join(home, 'logs')}, what they mail in ${join(layout.folder, 'mail')}.

Listening on ${[gateway, ...others].join(' and ')}

  API reference   ${gateway}/docs

  For the operator's commands and the tests
    export STACK_URL=${gateway} OPERATOR_KEY_FILE=${stack.keys.privateKeyFile('operator')}
    export ${operated.join(' ')}
    export ${urls} MAIL_FILES='${join(layout.folder, 'mail')}'

  A first account, and what it sees
    TOKEN=$(npm run -s admin -- accounts create --name Ada --key-name first | grep -o 'svc_pat_[A-Za-z0-9_-]\\{43,\\}')
    curl -s ${gateway}/v1/me -H "Authorization: Bearer $TOKEN"

Stop it with \`npm run stack -- down\`.
`;
};
