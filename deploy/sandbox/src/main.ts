import { createLog } from '@bubbles/shared/log.ts';
import { runProcess } from '@bubbles/shared/run-process.ts';
import { readSandboxConfig } from './config.ts';
import { startSandbox } from './sandbox.ts';
import { welcome } from './welcome.ts';

const NAME = 'sandbox';

await runProcess({
  name: NAME,
  main: async () => {
    const config = readSandboxConfig(process.argv.slice(2), process.env);
    const logOf = (name: string) => createLog({ name, level: config.logLevel, destination: process.stderr });
    const sandbox = await startSandbox(config, logOf);
    process.stdout.write(welcome(sandbox.url, sandbox.world()));
    return sandbox;
  },
});
