import { defineService } from '@bubbles/host/service.ts';
import { base64Key, sealKeys } from '@bubbles/kernel/config-values.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { noteWritten } from './adapters/bus/events.ts';
import { noteRoutes } from './adapters/http/notes.ts';
import { openStores } from './adapters/store/notes.ts';
import { createApp } from './app.ts';

const KEY_BYTES = 32;

export const notes = defineService({
  name: 'notes',
  variables: {
    SEAL_KEYS: sealKeys(),
    /** Signs what the provider of mail sends. */
    MAIL_KEY: base64Key(KEY_BYTES),
  },
  asks: ['identity-and-oauth'],
  compose: (context) => {
    const { config, clock, ids } = context;
    const stores = openStores(context);
    const app = createApp({ ...stores, noteWritten, clock, mailKey: config.MAIL_KEY });
    return {
      routes: noteRoutes(app),
      // Its routes honour `Idempotency-Key`.
      seal: createSeal(config.SEAL_KEYS, ids.bytes),
      outboxes: stores.relayed,
      jobs: [{ name: 'drop-old-notes', cron: '11 4 * * *', run: app.dropOldNotes }],
      ensureIndexes: stores.ensureIndexes,
    };
  },
});
