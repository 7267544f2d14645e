import { Matchers } from '@pact-foundation/pact';
import { TEAM_ID, USER_ID } from './examples.ts';

/** What there is to act on; the provider puts ids of its own in the place of these. */
export const IDS = {
  user_id: USER_ID,
  team_id: TEAM_ID,
  session_id: 'session-1',
  client_id: 'client-1',
  grant_id: 'grant-1',
  join_id: 'mj_1',
  subscription_id: 'wh_1',
};
const { user_id, team_id, session_id, client_id, grant_id, join_id, subscription_id } = IDS;

const some = Matchers.like;
const account = some({ user_id, state: 'active' });
const team = some({ id: team_id, plan: 'pro' });
const key = some({ id: 'key-1', token: 'token' });
const session = some({ id: session_id, session_token: 'token' });
const grant = some({ id: grant_id, client_id });
const client = some({ client_id });

interface Act {
  readonly line: string;
  readonly method: string;
  /** Below `/internal/v1/admin/`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status: number;
  /** What the operator's next command needs of the answer; absent where there is none. */
  readonly shown?: object;
}

/** What each service that seals is asked of its keys. */
const sealsOf = (service: string): Act => ({
  line: `seals renew --service ${service} --dry-run`,
  method: 'POST',
  path: 'seals',
  body: { after: null, dry_run: true },
  status: 200,
  shown: {
    newest_key: some('k1'),
    keys: Matchers.eachLike('k1'),
    sealed: some({}),
    unreadable: some({}),
    resealed: Matchers.integer(0),
    carried_seconds: Matchers.integer(0),
    next_after: null,
  },
});
const REDELIVERED = `subscriptions/${subscription_id}/redeliveries`;
const SPAN = { since: '2026-01-01T00:00:00Z', until: null, includes_received: false, after: null };

const ACCOUNT = `accounts/${user_id}`;
const TEAM = `teams/${team_id}`;
const MEMBER = `${TEAM}/members/${user_id}`;
const NEW_TEAM = { name: 'Acme', plan: 'pro', archived: false, domain: 'acme.example', discoverable: true, trial_ends_at: null };
const NEW_ACCOUNT = { name: 'Ada', email: null, picture_url: null, key_name: 'ci' };
const NEW_CLIENT = { client_name: 'Notes', redirect_uris: ['https://notes.example.com/callback'] };

/** What an operator asks of each service. */
export const ACTS: Readonly<Record<string, readonly Act[]>> = {
  'identity-and-oauth': [
    {
      line: 'accounts list --email nobody@acme.test',
      method: 'GET',
      path: 'accounts',
      query: { email: 'nobody@acme.test' },
      status: 200,
      shown: some({ accounts: [] }),
    },
    {
      line: 'accounts list --limit 1',
      method: 'GET',
      path: 'accounts',
      query: { limit: '1' },
      status: 200,
      shown: { accounts: Matchers.eachLike({ user_id }) },
    },
    { line: `accounts show ${user_id}`, method: 'GET', path: ACCOUNT, status: 200, shown: account },
    {
      line: 'accounts create --name Ada --key-name ci',
      method: 'POST',
      path: 'accounts',
      body: NEW_ACCOUNT,
      status: 201,
      shown: { account, session, key },
    },
    { line: `accounts set ${user_id} --name Eve`, method: 'PATCH', path: ACCOUNT, body: { name: 'Eve' }, status: 200, shown: account },
    {
      line: `accounts state ${user_id} disabled`,
      method: 'PUT',
      path: `${ACCOUNT}/state`,
      body: { state: 'disabled' },
      status: 200,
      shown: account,
    },
    { line: `credentials end ${user_id}`, method: 'DELETE', path: `${ACCOUNT}/credentials`, status: 204 },
    { line: `sessions start ${user_id}`, method: 'POST', path: `${ACCOUNT}/sessions`, status: 201, shown: session },
    { line: `sessions end ${session_id}`, method: 'DELETE', path: `sessions/${session_id}`, status: 204 },
    { line: `keys grant ${user_id} ci`, method: 'POST', path: `${ACCOUNT}/keys`, body: { name: 'ci' }, status: 201, shown: key },
    {
      line: `grants list ${user_id}`,
      method: 'GET',
      path: `${ACCOUNT}/grants`,
      status: 200,
      shown: { grants: Matchers.eachLike({ id: grant_id, client_id }) },
    },
    {
      line: `grants issue ${user_id} ${client_id} --scopes bubbles:read`,
      method: 'POST',
      path: `${ACCOUNT}/grants`,
      body: { client_id, scopes: ['bubbles:read'] },
      status: 201,
      shown: { grant, access_token: some('token'), refresh_token: some('token') },
    },
    { line: `grants end ${grant_id}`, method: 'DELETE', path: `grants/${grant_id}`, status: 204 },
    {
      line: 'clients list --limit 1',
      method: 'GET',
      path: 'clients',
      query: { limit: '1' },
      status: 200,
      shown: { clients: Matchers.eachLike({ client_id }) },
    },
    {
      line: 'clients add Notes https://notes.example.com/callback',
      method: 'POST',
      path: 'clients',
      body: NEW_CLIENT,
      status: 201,
      shown: client,
    },
    { line: `clients end ${client_id}`, method: 'DELETE', path: `clients/${client_id}`, status: 204 },
    {
      line: 'teams list --limit 1',
      method: 'GET',
      path: 'teams',
      query: { limit: '1' },
      status: 200,
      shown: { teams: Matchers.eachLike({ id: team_id }) },
    },
    { line: `teams show ${team_id}`, method: 'GET', path: TEAM, status: 200, shown: team },
    {
      line: 'teams create --name Acme --plan pro --domain acme.example --discoverable true',
      method: 'POST',
      path: 'teams',
      body: NEW_TEAM,
      status: 201,
      shown: team,
    },
    {
      line: `teams set ${team_id} --plan pro --trial-ends-at none`,
      method: 'PATCH',
      path: TEAM,
      body: { plan: 'pro', trial_ends_at: null },
      status: 200,
      shown: team,
    },
    {
      line: `members set ${team_id} ${user_id} admin`,
      method: 'PUT',
      path: MEMBER,
      body: { role: 'admin', hidden: false },
      status: 200,
      shown: some({ team_id, user_id, role: 'admin' }),
    },
    { line: `members end ${team_id} ${user_id}`, method: 'DELETE', path: MEMBER, status: 204 },
    {
      line: `channels create ${team_id} Reviews --members ${user_id}`,
      method: 'POST',
      path: `${TEAM}/channels`,
      body: { name: 'Reviews', member_ids: [user_id] },
      status: 201,
      shown: some({ id: 'channel-1' }),
    },
    sealsOf('identity-and-oauth'),
  ],
  'meetings-bot-gateway': [
    { line: 'joins list --stuck', method: 'GET', path: 'stuck-joins', status: 200, shown: some({ joins: [] }) },
    {
      line: `joins list --user ${user_id}`,
      method: 'GET',
      path: `${ACCOUNT}/joins`,
      status: 200,
      shown: { joins: Matchers.eachLike({ join_id, status: 'dispatched' }) },
    },
    { line: `joins end ${join_id}`, method: 'DELETE', path: `joins/${join_id}`, status: 200, shown: some({ join_id, status: 'fatal' }) },
    sealsOf('meetings-bot-gateway'),
  ],
  'bubbles-query': [
    {
      line: 'rebuild people',
      method: 'POST',
      path: 'rebuild-people',
      body: {},
      status: 200,
      shown: { accounts: Matchers.integer(1), next_after: null },
    },
  ],
  'webhooks-dispatcher': [
    {
      line: `deliveries redeliver ${subscription_id} --from ${SPAN.since}`,
      method: 'POST',
      path: REDELIVERED,
      body: { ...SPAN, dry_run: false },
      status: 200,
      shown: some({ replay_id: 'rpl_1' }),
    },
    {
      line: `deliveries redeliver ${subscription_id} --from ${SPAN.since} --dry-run`,
      method: 'POST',
      path: REDELIVERED,
      body: { ...SPAN, dry_run: true },
      status: 200,
      shown: { matching: Matchers.integer(0), next_after: null },
    },
    sealsOf('webhooks-dispatcher'),
  ],
  signup: [sealsOf('signup')],
};
