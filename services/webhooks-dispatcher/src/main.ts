import { runService } from '@bubbles/host/service-process.ts';
import { webhooksDispatcher } from './service.ts';

await runService(webhooksDispatcher);
