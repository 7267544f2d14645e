import { runService } from '@bubbles/host/service-process.ts';
import { bubblesQuery } from './service.ts';

await runService(bubblesQuery);
