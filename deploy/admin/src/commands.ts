import { parseArgs } from 'node:util';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { RedeliveriesRequest } from '@bubbles/contracts/internal/operators.ts';
import { wholeNumber } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';
import { ACCOUNT_COMMANDS } from './account-commands.ts';
import { type AdminCall, at, type Command, callTo, checked, type DeadLetterCall, type Flags, UsageError } from './command.ts';

/** Services that store sealed values. */
const SEALING = [
  'identity-and-oauth',
  'webhooks-dispatcher',
  'meetings-bot-gateway',
  'signup',
] as const satisfies readonly AdminCall['service'][];

const meetings = callTo('meetings-bot-gateway');
const MOST_LETTERS = 100_000;
const CONSUMERS = [...new Set(EVENTS.flatMap(({ consumers }) => consumers))];
const DeadLetterQuery = z.object({ consumer: z.enum(CONSUMERS), limit: wholeNumber(1, MOST_LETTERS).nullable() });
const deadLetters = (
  verb: DeadLetterCall['deadLetters'],
  consumer: string | undefined,
  limit: string | boolean | null,
): DeadLetterCall => ({
  deadLetters: verb,
  ...checked(DeadLetterQuery, { consumer, limit }),
});

/** All commands by their noun and verb. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  ...ACCOUNT_COMMANDS,
  'joins list': {
    words: [],
    flags: { stuck: 'boolean', user: 'string' },
    call: (_, { stuck, user }) => {
      if ((stuck === true) === (typeof user === 'string')) throw new UsageError('joins list: give either --stuck or --user <account>.');
      return meetings('GET', typeof user === 'string' ? at('accounts', user, 'joins') : 'stuck-joins');
    },
  },
  'joins end': { words: ['join'], flags: {}, call: ([id]) => meetings('DELETE', at('joins', id)) },
  'deliveries redeliver': {
    words: ['subscription'],
    flags: { from: 'string', to: 'string', all: 'boolean', 'dry-run': 'boolean' },
    required: ['from'],
    call: ([id], { from: since, to: until = null, all, 'dry-run': dryRun }) => {
      const request = { since, until, includes_received: all === true, dry_run: dryRun === true, after: null };
      const path = at('subscriptions', id, 'redeliveries');
      const call = callTo('webhooks-dispatcher')('POST', path, checked(RedeliveriesRequest, request));
      return dryRun === true ? { pages: 'redeliveries', call } : call;
    },
  },
  'seals renew': {
    words: [],
    flags: { service: 'string', 'dry-run': 'boolean' },
    call: (_, { service, 'dry-run': dryRun }) => ({
      seals: dryRun === true ? 'count' : 'renew',
      services: service === undefined ? SEALING : [checked(z.enum(SEALING), service)],
    }),
  },
  'rebuild people': {
    words: [],
    flags: {},
    call: () => ({ pages: 'people', call: callTo('bubbles-query')('POST', 'rebuild-people', {}) }),
  },
  'dead-letters list': {
    words: ['consumer'],
    flags: { limit: 'string' },
    call: ([consumer], { limit = null }) => deadLetters('list', consumer, limit),
  },
  'dead-letters redrive': {
    words: ['consumer'],
    flags: { limit: 'string', 'dry-run': 'boolean' },
    call: ([consumer], { limit = null, 'dry-run': dryRun }) => deadLetters(dryRun === true ? 'list' : 'redrive', consumer, limit),
  },
};

/** The usage line of a command. */
export const usageOf = ([name, { words, flags, required = [] }]: readonly [string, Command]): string =>
  [
    name,
    ...words.map((word) => `<${word}>`),
    ...Object.entries(flags).map(([flag, kind]) => {
      const option = `--${flag}${kind === 'string' ? ' …' : ''}`;
      return required.includes(flag) ? option : `[${option}]`;
    }),
  ].join(' ');

const isComplete = ({ words, required = [], needsFlag = false }: Command, positionals: readonly string[], given: Flags): boolean =>
  positionals.length === words.length &&
  required.every((flag) => given[flag] !== undefined) &&
  (!needsFlag || Object.keys(given).length > 0);

export const USAGE = [
  'usage: npm run admin -- <command> [--as <your name>]',
  ...Object.entries(COMMANDS).map((command) => `  ${usageOf(command)}`),
].join('\n');

/** The operator's name for the audit line, as they state it. */
const OperatorName = z.string().regex(/^[\w.@-]{1,64}$/, 'must have 1 to 64 letters, digits and . _ @ -');

interface Typed extends Pick<Command, 'showsSecret'> {
  readonly call: ReturnType<Command['call']>;
  readonly operator: string | null;
  readonly isDryRun: boolean;
}

/** Throws `UsageError` for words that are not a command. `name` is the operator's name unless `--as` gives one. */
export const operatorCall = (argv: readonly string[], name: string | null = null): Typed => {
  const [noun = '', verb = '', ...rest] = argv;
  const command = COMMANDS[`${noun} ${verb}`];
  if (!command) throw new UsageError(USAGE);
  const options = Object.fromEntries(Object.entries({ ...command.flags, as: 'string' as const }).map(([flag, type]) => [flag, { type }]));
  const { positionals, values } = parsed(rest, options);
  const { as = name, ...flags } = values;
  if (!isComplete(command, positionals, flags)) throw new UsageError(`usage: npm run admin -- ${usageOf([`${noun} ${verb}`, command])}`);
  const operator = as === null ? null : checked(z.object({ as: OperatorName }), { as }).as;
  return {
    call: command.call(positionals, flags),
    operator,
    isDryRun: flags['dry-run'] === true,
    showsSecret: command.showsSecret ?? false,
  };
};

const parsed = (args: string[], options: Record<string, { type: 'string' | 'boolean' }>) => {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(Error.isError(cause) ? cause.message : USAGE, { cause });
  }
};
