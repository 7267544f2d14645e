import { listDeadLetters, redrive } from '@bubbles/bus/operations/dead-letters.ts';
import { ConfigError, readConfig } from '@bubbles/kernel/config.ts';
import { connectionUrl } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';
import { type DeadLetterCall, UsageError } from './command.ts';
import { operatorCall } from './commands.ts';
import { asker, askPages, askSeals, Refused } from './services.ts';

const BrokerAccess = z.object({ AMQP_URL: connectionUrl('amqp', 'amqps') });
/** How many fit a terminal; more are shown only when asked for. */
const LISTED = 20;

const show = (answer: unknown) => process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
/** Writes to stderr, so that stdout holds only the answer. */
const say = (text: string) => process.stderr.write(`${text}\n`);

/** Said to be done only when nothing had to stay. */
const askBroker = async ({ deadLetters, consumer, limit }: DeadLetterCall): Promise<boolean> => {
  const { AMQP_URL: url } = readConfig(BrokerAccess, process.env);
  if (deadLetters === 'list') {
    show(await listDeadLetters({ url, consumer, limit: limit ?? LISTED }));
    return true;
  }
  const redriven = await redrive({ url, consumer, ...(limit !== null && { limit }) });
  show(redriven);
  return redriven.kept === 0;
};

/** True when everything was done. */
const run = async (): Promise<boolean> => {
  const { call, operator, isDryRun, showsSecret } = operatorCall(process.argv.slice(2), process.env['OPERATOR_NAME'] ?? null);
  if (isDryRun) say('Dry run: nothing is changed.');
  if ('deadLetters' in call) return askBroker(call);
  const ask = asker(process.env, operator);
  if ('seals' in call) {
    const { isDone, report } = await askSeals(ask, call);
    show(report);
    return isDone;
  }
  const answer = 'pages' in call ? await askPages(ask, call) : await ask(call);
  if (answer !== null) show(answer);
  if (showsSecret) say('The token above is a secret and is shown this once: hand it over safely, and keep it out of logs and tickets.');
  return true;
};

const USAGE_OR_CONFIGURATION = 2;

process.exitCode = await run().then(
  (isDone) => (isDone ? 0 : 1),
  (error: unknown) => {
    if (error instanceof UsageError || error instanceof ConfigError) {
      say(error.message);
      return USAGE_OR_CONFIGURATION;
    }
    say(error instanceof Refused ? error.message : `failed: ${Error.isError(error) ? error.message : String(error)}`);
    return 1;
  },
);
