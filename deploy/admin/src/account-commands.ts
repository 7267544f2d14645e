import { CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
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
import { type AdminCall, at, type Command, callTo, checked, type Flags } from './command.ts';

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

const identity = callTo('identity-and-oauth');

const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
/** The word `none` means null. */
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
  return identity('GET', query.size > 0 ? `${noun}?${query}` : noun);
};

/** Splits at commas. */
const listed = (flag: string | boolean) =>
  String(flag)
    .split(',')
    .filter((part) => part !== '');

/** Commands that identity answers: accounts with their plans and keys, teams with their members. */
export const ACCOUNT_COMMANDS: Readonly<Record<string, Command>> = {
  'accounts list': { words: [], flags: { ...PAGE, email: 'string' }, call: (_, flags) => page('accounts', flags) },
  'accounts show': { words: ['account'], flags: {}, call: ([id]) => identity('GET', at('accounts', id)) },
  'accounts create': {
    words: [],
    flags: { ...OPTIONAL, 'key-name': 'string' },
    needsFlag: true,
    showsSecret: true,
    call: (_, flags) => {
      const key_name = flags['key-name'] ?? null;
      return identity(
        'POST',
        'accounts',
        checked(CreateAccount, { name: null, email: null, picture_url: null, ...profile(flags), key_name }),
      );
    },
  },
  'accounts set': {
    words: ['account'],
    flags: OPTIONAL,
    needsFlag: true,
    call: ([id], flags) => identity('PATCH', at('accounts', id), checked(PatchAccount, profile(flags))),
  },
  'accounts state': {
    words: ['account', 'active|disabled|deleted'],
    flags: { 'dry-run': 'boolean' },
    call: ([id, state], { 'dry-run': dryRun }) => {
      const body = checked(SetAccountState, { state });
      return dryRun === true ? identity('GET', at('accounts', id)) : identity('PUT', at('accounts', id, 'state'), body);
    },
  },
  'credentials end': {
    words: ['account'],
    flags: { 'dry-run': 'boolean' },
    call: ([id], { 'dry-run': dryRun }) =>
      dryRun === true ? identity('GET', at('accounts', id)) : identity('DELETE', at('accounts', id, 'credentials')),
  },
  'sessions start': { words: ['account'], flags: {}, showsSecret: true, call: ([id]) => identity('POST', at('accounts', id, 'sessions')) },
  'sessions end': { words: ['session'], flags: {}, call: ([id]) => identity('DELETE', at('sessions', id)) },
  'keys grant': {
    words: ['account', 'name'],
    flags: {},
    showsSecret: true,
    call: ([id, name]) => identity('POST', at('accounts', id, 'keys'), checked(CreateApiKeyRequest, { name })),
  },
  'grants list': { words: ['account'], flags: {}, call: ([id]) => identity('GET', at('accounts', id, 'grants')) },
  'grants issue': {
    words: ['account', 'client'],
    flags: { scopes: 'string' },
    showsSecret: true,
    call: ([id, client], { scopes }) =>
      identity(
        'POST',
        at('accounts', id, 'grants'),
        checked(IssueGrant, { client_id: client, ...(scopes !== undefined && { scopes: listed(scopes) }) }),
      ),
  },
  'grants end': { words: ['grant'], flags: {}, call: ([id]) => identity('DELETE', at('grants', id)) },
  'clients list': { words: [], flags: PAGE, call: (_, flags) => page('clients', flags) },
  'clients add': {
    words: ['name', 'redirect-uri'],
    flags: {},
    call: ([name, uri]) => identity('POST', 'clients', checked(NewClient, { client_name: name, redirect_uris: [uri] })),
  },
  'clients end': { words: ['client'], flags: {}, call: ([id]) => identity('DELETE', at('clients', id)) },
  'teams list': { words: [], flags: PAGE, call: (_, flags) => page('teams', flags) },
  'teams show': { words: ['team'], flags: {}, call: ([id]) => identity('GET', at('teams', id)) },
  'teams create': {
    words: [],
    flags: TEAM,
    required: ['name', 'plan'],
    call: (_, flags) => identity('POST', 'teams', checked(CreateTeam, team(flags))),
  },
  'teams set': {
    words: ['team'],
    flags: TEAM,
    needsFlag: true,
    call: ([id], flags) => identity('PATCH', at('teams', id), checked(PatchTeam, team(flags))),
  },
  'members set': {
    words: ['team', 'account', 'admin|member|guest'],
    flags: { hidden: 'boolean' },
    call: ([id, userId, role], { hidden }) =>
      identity('PUT', at('teams', id, 'members', userId), checked(SetMember, { role, hidden: hidden === true })),
  },
  'members end': { words: ['team', 'account'], flags: {}, call: ([id, userId]) => identity('DELETE', at('teams', id, 'members', userId)) },
  'channels create': {
    words: ['team', 'name'],
    flags: { members: 'string' },
    call: ([id, name], { members }) =>
      identity(
        'POST',
        at('teams', id, 'channels'),
        checked(CreateChannel, { name, member_ids: typeof members === 'string' ? listed(members) : null }),
      ),
  },
};
