import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { argv } from 'node:process';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { runProcess } from '@bubbles/kernel/run-process.ts';

/** A process whose outputs a test spoils. It writes its port to the file that is named, logs as many lines as it is asked for, and answers what became of them. */
await runProcess({
  name: 'logging',
  main: async () => {
    const output = logOutput(process.stdout);
    const log = createLog({ name: 'logging', level: 'info', destination: output });
    const server = createServer((request, response) => {
      const count = Number(request.url?.slice(1));
      for (let n = 0; n < count; n += 1) log.info('x'.repeat(1000), { n });
      process.stderr.write('a line beside the log\n');
      response.end(JSON.stringify({ dropped: output.dropped(), residentBytes: process.memoryUsage.rss() }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const [, , portFile = ''] = argv;
    // The address of a server that listens on a port.
    writeFileSync(`${portFile}.new`, String((server.address() as AddressInfo).port));
    renameSync(`${portFile}.new`, portFile);
    return {
      stop: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        return true;
      },
    };
  },
});
