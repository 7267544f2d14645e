import { once } from 'node:events';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { startGateway } from '../../../services/meetings-bot-gateway/test/gateway.ts';

// The gateway of meetings as a process of its own that is there to be killed, with a clock that the test moves.

export interface MeetingsSettings {
  readonly file: string;
  readonly now: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What is asked of it: a request of Ada, or that time passes. */
export type MeetingsTask =
  | { readonly method: string; readonly path: string; readonly body?: unknown; readonly idempotencyKey?: string }
  | { readonly seconds: number };

process.on('disconnect', () => process.exit(0));

const [settings]: MeetingsSettings[] = await once(process, 'message');
if (settings === undefined) throw new Error('the gateway of meetings was not told what it is');
const log = createLog({ name: 'meetings', level: 'error', destination: logOutput(process.stdout) });
const database = openEmbedded({ path: settings.file, log }).database('bubbles_meetings');
const gateway = await startGateway({ database, clock: fakeClock(new Date(settings.now)), environment: settings.environment });

const answer = async (task: MeetingsTask): Promise<unknown> => {
  if ('seconds' in task) return gateway.pass(task.seconds);
  const { status, body } = await gateway.call(task.method, task.path, task.body, {
    ...(task.idempotencyKey && { idempotencyKey: task.idempotencyKey }),
  });
  return { status, body };
};

// The channel's other end is the test's.
process.on('message', ({ number, task }: { number: number; task: MeetingsTask }) => {
  void answer(task).then((answered) => process.send?.({ number, answered: answered ?? null }));
});
process.send?.({ ready: true });
