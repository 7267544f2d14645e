import { runService } from '@bubbles/host/service-process.ts';
import { signup } from './service.ts';

await runService(signup);
