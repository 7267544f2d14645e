import { runService } from '@bubbles/host/service-process.ts';
import { notes } from './service.ts';

await runService(notes);
