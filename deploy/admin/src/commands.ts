import { parseArgs } from 'node:util';
import { CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import {
  CreateAccount,
  CreateChannel,
  CreateTeam,
  IssueGrant,
  NewClient,
  PatchAccount,
  PatchTeam,
  SetAccountState,
  SetMember,
} from '@bubbles/contracts/internal/identity.ts';
import { wholeNumber } from '@bubbles/kernel/config-values.ts';
import { ISSUE_WORDING } from '@bubbles/kernel/errors.ts';
import { type ZodType, z } from 'zod';

/** A call of identity's internal admin API, or of another service's where that is said. */
export interface AdminCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/internal/v1/admin/`. */
  readonly path: string;
  readonly body: unknown;
}

/** A look at, or a way back for, what a consumer could not take. */
export interface DeadLetterCall {
  readonly deadLetters: 'list' | 'redrive';
  readonly consumer: string;
  /** All of them when null. */
  readonly limit: number | null;
}

/** Fills a projection again from its owner, page by page. */
export interface RebuildCall {
  readonly rebuild: 'people';
}

/** A call of the meetings bot gateway's internal admin API. */
export interface MeetingsCall {
  readonly meetings: AdminCall;
}

export type OperatorCall = AdminCall | DeadLetterCall | MeetingsCall | RebuildCall;

/** What an operator typed that is no command; the message is for the terminal. */
export class UsageError extends Error {}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

interface Command {
  /** Names of the words behind the command, in order. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, 'string' | 'boolean'>>;
  readonly call: (words: readonly string[], flags: Flags) => OperatorCall;
}

const OPTIONAL = { name: 'string', email: 'string', picture: 'string' } as const;
const PAGE = { after: 'string', limit: 'string' } as const;
const TEAM = {
  name: 'string',
  plan: 'string',
  domain: 'string',
  archived: 'string',
  discoverable: 'string',
  'trial-ends-at': 'string',
} as const;

const checked = <T>(schema: ZodType<T>, body: unknown): T => {
  const parsed = schema.safeParse(body, ISSUE_WORDING);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
};

const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
/** `none` stands for null. */
const text = (flag: string | boolean | undefined) => (flag === 'none' ? null : flag);
const truth = (flag: string | boolean | undefined) =>
  flag === undefined ? undefined : flag === 'true' ? true : flag === 'false' ? false : flag;

const profile = ({ name, email, picture }: Flags) => given({ name: text(name), email: text(email), picture_url: text(picture) });
const team = ({ name, plan, domain, archived, discoverable, 'trial-ends-at': trialEndsAt }: Flags) =>
  given({
    name: text(name),
    plan,
    domain: text(domain),
    archived: truth(archived),
    discoverable: truth(discoverable),
    trial_ends_at: text(trialEndsAt),
  });
const page = (noun: string, { after, limit, email }: Flags): AdminCall => {
  const query = new URLSearchParams(Object.entries(given({ after, limit, email })).map(([name, value]) => [name, String(value)]));
  return { method: 'GET', path: query.size > 0 ? `${noun}?${query}` : noun, body: null };
};
const at = (...segments: readonly (string | undefined)[]) => segments.map((segment = '') => encodeURIComponent(segment)).join('/');

/** Parts between commas. */
const listed = (flag: string | boolean) =>
  String(flag)
    .split(',')
    .filter((part) => part !== '');

const MOST_LETTERS = 100_000;
const CONSUMERS = [...new Set(EVENTS.flatMap(({ consumers }) => consumers))];
const DeadLetterQuery = z.object({ consumer: z.enum(CONSUMERS), limit: wholeNumber(1, MOST_LETTERS).nullable() });
const deadLetters =
  (verb: DeadLetterCall['deadLetters']): Command['call'] =>
  ([consumer], { limit = null }) => ({ deadLetters: verb, ...checked(DeadLetterQuery, { consumer, limit }) });

const COMMANDS: Readonly<Record<string, Command>> = {
  'accounts list': { words: [], flags: { ...PAGE, email: 'string' }, call: (_, flags) => page('accounts', flags) },
  'accounts show': { words: ['account'], flags: {}, call: ([id]) => ({ method: 'GET', path: at('accounts', id), body: null }) },
  'accounts create': {
    words: [],
    flags: { ...OPTIONAL, 'key-name': 'string' },
    call: (_, flags) => ({
      method: 'POST',
      path: 'accounts',
      body: checked(CreateAccount, { name: null, email: null, picture_url: null, ...profile(flags), key_name: flags['key-name'] ?? null }),
    }),
  },
  'accounts set': {
    words: ['account'],
    flags: OPTIONAL,
    call: ([id], flags) => ({ method: 'PATCH', path: at('accounts', id), body: checked(PatchAccount, profile(flags)) }),
  },
  'accounts state': {
    words: ['account', 'active|disabled|deleted'],
    flags: {},
    call: ([id, state]) => ({ method: 'PUT', path: at('accounts', id, 'state'), body: checked(SetAccountState, { state }) }),
  },
  'sessions start': {
    words: ['account'],
    flags: {},
    call: ([id]) => ({ method: 'POST', path: at('accounts', id, 'sessions'), body: null }),
  },
  'sessions end': { words: ['session'], flags: {}, call: ([id]) => ({ method: 'DELETE', path: at('sessions', id), body: null }) },
  'keys grant': {
    words: ['account', 'name'],
    flags: {},
    call: ([id, name]) => ({ method: 'POST', path: at('accounts', id, 'keys'), body: checked(CreateApiKeyRequest, { name }) }),
  },
  'grants list': {
    words: ['account'],
    flags: {},
    call: ([id]) => ({ method: 'GET', path: at('accounts', id, 'grants'), body: null }),
  },
  'grants issue': {
    words: ['account', 'client'],
    flags: { scopes: 'string' },
    call: ([id, client], { scopes }) => ({
      method: 'POST',
      path: at('accounts', id, 'grants'),
      body: checked(IssueGrant, { client_id: client, ...(scopes !== undefined && { scopes: listed(scopes) }) }),
    }),
  },
  'grants end': { words: ['grant'], flags: {}, call: ([id]) => ({ method: 'DELETE', path: at('grants', id), body: null }) },
  'clients list': { words: [], flags: PAGE, call: (_, flags) => page('clients', flags) },
  'clients add': {
    words: ['name', 'redirect-uri'],
    flags: {},
    call: ([name, uri]) => ({ method: 'POST', path: 'clients', body: checked(NewClient, { client_name: name, redirect_uris: [uri] }) }),
  },
  'clients end': { words: ['client'], flags: {}, call: ([id]) => ({ method: 'DELETE', path: at('clients', id), body: null }) },
  'teams list': { words: [], flags: PAGE, call: (_, flags) => page('teams', flags) },
  'teams show': { words: ['team'], flags: {}, call: ([id]) => ({ method: 'GET', path: at('teams', id), body: null }) },
  'teams create': {
    words: [],
    flags: TEAM,
    call: (_, flags) => ({ method: 'POST', path: 'teams', body: checked(CreateTeam, { name: null, ...team(flags) }) }),
  },
  'teams set': {
    words: ['team'],
    flags: TEAM,
    call: ([id], flags) => ({ method: 'PATCH', path: at('teams', id), body: checked(PatchTeam, team(flags)) }),
  },
  'members set': {
    words: ['team', 'account', 'admin|member|guest'],
    flags: { hidden: 'boolean' },
    call: ([id, userId, role], { hidden }) => ({
      method: 'PUT',
      path: at('teams', id, 'members', userId),
      body: checked(SetMember, { role, hidden: hidden === true }),
    }),
  },
  'members end': {
    words: ['team', 'account'],
    flags: {},
    call: ([id, userId]) => ({ method: 'DELETE', path: at('teams', id, 'members', userId), body: null }),
  },
  'channels create': {
    words: ['team', 'name'],
    flags: { members: 'string' },
    call: ([id, name], { members }) => ({
      method: 'POST',
      path: at('teams', id, 'channels'),
      body: checked(CreateChannel, {
        name,
        member_ids: typeof members === 'string' ? listed(members) : null,
      }),
    }),
  },
  'joins list': {
    words: [],
    flags: { stuck: 'boolean', user: 'string' },
    call: (_, { stuck, user }) => {
      if ((stuck === true) === (typeof user === 'string')) throw new UsageError('joins list: give either --stuck or --user <account>.');
      return { meetings: { method: 'GET', path: typeof user === 'string' ? at('accounts', user, 'joins') : 'stuck-joins', body: null } };
    },
  },
  'joins end': { words: ['join'], flags: {}, call: ([id]) => ({ meetings: { method: 'DELETE', path: at('joins', id), body: null } }) },
  'rebuild people': { words: [], flags: {}, call: () => ({ rebuild: 'people' }) },
  'dead-letters list': { words: ['consumer'], flags: { limit: 'string' }, call: deadLetters('list') },
  'dead-letters redrive': { words: ['consumer'], flags: { limit: 'string' }, call: deadLetters('redrive') },
};

const usageOf = ([name, { words, flags }]: [string, Command]) =>
  [
    '  ',
    name,
    ...words.map((word) => `<${word}>`),
    ...Object.entries(flags).map(([flag, kind]) => `[--${flag}${kind === 'string' ? ' …' : ''}]`),
  ].join(' ');

export const USAGE = ['usage: npm run admin -- <command>', ...Object.entries(COMMANDS).map(usageOf)].join('\n');

/** Throws `UsageError` for what is no command. */
export const operatorCall = (argv: readonly string[]): OperatorCall => {
  const [noun = '', verb = '', ...rest] = argv;
  const command = COMMANDS[`${noun} ${verb}`];
  if (!command) throw new UsageError(USAGE);
  const options = Object.fromEntries(Object.entries(command.flags).map(([name, type]) => [name, { type }]));
  const { positionals, values } = parsed(rest, options);
  if (positionals.length !== command.words.length) throw new UsageError(usageOf([`${noun} ${verb}`, command]));
  return command.call(positionals, values);
};

const parsed = (args: string[], options: Record<string, { type: 'string' | 'boolean' }>) => {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(Error.isError(cause) ? cause.message : USAGE, { cause });
  }
};
