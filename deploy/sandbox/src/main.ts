import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { runProcess } from '@bubbles/kernel/run-process.ts';
import { MEMORY, readSandboxConfig, type SandboxConfig } from './config.ts';
import { hostOf, isLocalHost } from './control/callers.ts';
import { startSandbox } from './sandbox.ts';
import type { World } from './world.ts';

/** What a newcomer sees when everything answers. */
const welcome = (url: string, { users }: World, { data }: Pick<SandboxConfig, 'data'>): string => `
The recordings and meeting-notes service is running, with a small world of people and bubbles in it.

Listening on ${url}

  API reference   ${url}/docs
  The world       ${url}/_sandbox/world
  Control plane   ${url}/_sandbox/docs
  Try it          curl -s ${url}/v1/bubbles -H "Authorization: Bearer ${users['ada']?.pat}"

${data === MEMORY ? 'Stop it with Ctrl-C; nothing is kept.' : 'Stop it with Ctrl-C; the data is kept. `npm start -- --fresh` starts fresh.'}
`;

/** Warning about access from other machines; null without any. */
const exposureWarning = ({ host, callers }: Pick<SandboxConfig, 'host' | 'callers'>): string | null => {
  if (callers.remote)
    return 'warning: SANDBOX_REMOTE_CONTROL lets everybody who reaches this port read all tokens, change and reset the world.';
  if (isLocalHost(hostOf(host))) return null;
  return `warning: HOST=${host} lets other machines reach the public API. /_sandbox/ answers this machine only; SANDBOX_REMOTE_CONTROL=1 opens it to them.`;
};

const NAME = 'sandbox';

await runProcess({
  name: NAME,
  main: async () => {
    const config = readSandboxConfig(process.argv.slice(2), process.env);
    const destination = logOutput(process.stderr);
    const logOf = (name: string) => createLog({ name, level: config.logLevel, destination });
    const sandbox = await startSandbox(config, logOf);
    const warning = exposureWarning(config);
    if (warning !== null) process.stderr.write(`${NAME}: ${warning}\n`);
    if (sandbox.setAside !== null) process.stderr.write(`${NAME}: the data of before is in ${sandbox.setAside}\n`);
    process.stdout.write(welcome(sandbox.url, sandbox.world(), config));
    return sandbox;
  },
});
