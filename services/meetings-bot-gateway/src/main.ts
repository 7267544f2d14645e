import { runService } from '@bubbles/host/service-process.ts';
import { meetingsBotGateway } from './service.ts';

await runService(meetingsBotGateway);
