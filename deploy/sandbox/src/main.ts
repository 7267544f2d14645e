import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { runProcess } from '@bubbles/kernel/run-process.ts';
import { readSandboxConfig } from './config.ts';
import { startSandbox } from './sandbox.ts';
import { exposureWarning, welcome } from './welcome.ts';

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
