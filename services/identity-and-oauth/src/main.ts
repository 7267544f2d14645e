import { runService } from '@bubbles/host/service-process.ts';
import { identityAndOauth } from './service.ts';

await runService(identityAndOauth);
