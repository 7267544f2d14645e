import { runJobProcess, StartupError } from '@bubbles/kernel/run-process.ts';
import { stackCommand } from './commands.ts';
import { readStackConfig } from './config.ts';

const NAME = 'stack';

await runJobProcess({
  name: NAME,
  work: async () => {
    const [word = '', ...rest] = process.argv.slice(2);
    const command = rest.length === 0 ? stackCommand(word) : null;
    if (command === null) throw new StartupError('usage: npm run stack -- up | down | status');
    const said = await command({ ...readStackConfig(process.env), environment: process.env });
    process.stdout.write(said);
  },
});
