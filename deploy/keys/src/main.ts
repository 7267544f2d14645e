import { join } from 'node:path';
import { readConfig } from '@bubbles/kernel/config.ts';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { runJobProcess } from '@bubbles/kernel/run-process.ts';
import { KeysVariables } from '@bubbles/services/deployment.ts';
import { openKeys } from './keys.ts';
import { secretFiles, writeSecrets } from './secret-files.ts';

const NAME = 'keys';

/** Runs before the other parts of a self-managed deployment. Existing secrets stay unchanged. */
await runJobProcess({
  name: NAME,
  work: () => {
    const { KEYS_FOLDER, KEYS_GROUP, BROKER_ADDRESS, STORE_ADDRESS, MAIL_ADDRESS } = readConfig(KeysVariables, process.env);
    const keys = openKeys(join(KEYS_FOLDER, 'made'));
    const addresses = { broker: BROKER_ADDRESS, store: STORE_ADDRESS, mail: MAIL_ADDRESS };
    const files = secretFiles({ keys, addresses });
    const written = writeSecrets(files, { folder: KEYS_FOLDER, group: KEYS_GROUP });
    createLog({ name: NAME, level: 'info', destination: logOutput(process.stdout) }).info('secrets written', {
      written,
      kept: files.size - written,
    });
    return Promise.resolve();
  },
});
