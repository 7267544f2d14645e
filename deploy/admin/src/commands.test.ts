import { describe, expect, it } from '@jest/globals';
import { UsageError } from './command.ts';
import { operatorCall, USAGE } from './commands.ts';

const call = (line: string) => operatorCall(line.split(' ')).call;
const IDENTITY = { service: 'identity-and-oauth' };
const REDELIVER = {
  service: 'webhooks-dispatcher',
  method: 'POST',
  path: 'subscriptions/wh_1/redeliveries',
  body: { since: '2026-11-01T00:00:00Z', until: null, includes_received: false, dry_run: false, after: null },
};
const MEETINGS = { service: 'meetings-bot-gateway' };

describe('operator commands', () => {
  it.each([
    ['accounts list', { ...IDENTITY, method: 'GET', path: 'accounts', body: null }],
    ['accounts list --email ada@acme.test', { ...IDENTITY, method: 'GET', path: 'accounts?email=ada%40acme.test', body: null }],
    ['accounts list --after a/b --limit 10', { ...IDENTITY, method: 'GET', path: 'accounts?after=a%2Fb&limit=10', body: null }],
    ['accounts show ../teams', { ...IDENTITY, method: 'GET', path: 'accounts/..%2Fteams', body: null }],
    [
      'accounts create --name Ada --key-name ci',
      { ...IDENTITY, method: 'POST', path: 'accounts', body: { name: 'Ada', email: null, picture_url: null, key_name: 'ci' } },
    ],
    ['accounts set u1 --email none', { ...IDENTITY, method: 'PATCH', path: 'accounts/u1', body: { email: null } }],
    ['credentials end u1', { ...IDENTITY, method: 'DELETE', path: 'accounts/u1/credentials', body: null }],
    ['accounts state u1 disabled', { ...IDENTITY, method: 'PUT', path: 'accounts/u1/state', body: { state: 'disabled' } }],
    ['sessions start u1', { ...IDENTITY, method: 'POST', path: 'accounts/u1/sessions', body: null }],
    ['sessions end s1', { ...IDENTITY, method: 'DELETE', path: 'sessions/s1', body: null }],
    ['keys grant u1 ci', { ...IDENTITY, method: 'POST', path: 'accounts/u1/keys', body: { name: 'ci' } }],
    ['grants list u1', { ...IDENTITY, method: 'GET', path: 'accounts/u1/grants', body: null }],
    [
      'grants issue u1 c1 --scopes bubbles:read,meetings:join',
      { ...IDENTITY, method: 'POST', path: 'accounts/u1/grants', body: { client_id: 'c1', scopes: ['bubbles:read', 'meetings:join'] } },
    ],
    [
      'grants issue u1 c1',
      {
        ...IDENTITY,
        method: 'POST',
        path: 'accounts/u1/grants',
        body: { client_id: 'c1', scopes: ['bubbles:read', 'webhooks:manage', 'meetings:join'] },
      },
    ],
    ['grants end g1', { ...IDENTITY, method: 'DELETE', path: 'grants/g1', body: null }],
    ['clients list --limit 5', { ...IDENTITY, method: 'GET', path: 'clients?limit=5', body: null }],
    [
      'clients add Notes https://notes.test/callback',
      { ...IDENTITY, method: 'POST', path: 'clients', body: { client_name: 'Notes', redirect_uris: ['https://notes.test/callback'] } },
    ],
    [
      'clients end https://notes.test/client',
      { ...IDENTITY, method: 'DELETE', path: 'clients/https%3A%2F%2Fnotes.test%2Fclient', body: null },
    ],
    [
      'teams create --name Acme --plan pro',
      {
        ...IDENTITY,
        method: 'POST',
        path: 'teams',
        body: { name: 'Acme', plan: 'pro', archived: false, domain: null, discoverable: false, trial_ends_at: null },
      },
    ],
    ['teams set t1 --archived true', { ...IDENTITY, method: 'PATCH', path: 'teams/t1', body: { archived: true } }],
    [
      'teams set t1 --trial-ends-at 2026-12-24T00:00:00Z --domain acme.test --discoverable true',
      {
        ...IDENTITY,
        method: 'PATCH',
        path: 'teams/t1',
        body: { trial_ends_at: '2026-12-24T00:00:00Z', domain: 'acme.test', discoverable: true },
      },
    ],
    ['teams set t1 --trial-ends-at none', { ...IDENTITY, method: 'PATCH', path: 'teams/t1', body: { trial_ends_at: null } }],
    [
      'members set t1 u1 guest --hidden',
      { ...IDENTITY, method: 'PUT', path: 'teams/t1/members/u1', body: { role: 'guest', hidden: true } },
    ],
    ['members end t1 u1', { ...IDENTITY, method: 'DELETE', path: 'teams/t1/members/u1', body: null }],
    [
      'channels create t1 leads --members u1,u2',
      { ...IDENTITY, method: 'POST', path: 'teams/t1/channels', body: { name: 'leads', member_ids: ['u1', 'u2'] } },
    ],
    ['joins list --stuck', { ...MEETINGS, method: 'GET', path: 'stuck-joins', body: null }],
    ['joins list --user a/b', { ...MEETINGS, method: 'GET', path: 'accounts/a%2Fb/joins', body: null }],
    ['joins end mj_1', { ...MEETINGS, method: 'DELETE', path: 'joins/mj_1', body: null }],
    ['credentials end u1 --dry-run', { ...IDENTITY, method: 'GET', path: 'accounts/u1', body: null }],
    ['accounts state u1 disabled --dry-run', { ...IDENTITY, method: 'GET', path: 'accounts/u1', body: null }],
    ['rebuild people', { pages: 'people', call: { service: 'bubbles-query', method: 'POST', path: 'rebuild-people', body: {} } }],
    ['deliveries redeliver wh_1 --from 2026-11-01T00:00:00Z', REDELIVER],
    [
      'deliveries redeliver wh_1 --from 2026-11-01T00:00:00Z --to 2026-11-02T00:00:00Z --all --dry-run',
      {
        pages: 'redeliveries',
        call: { ...REDELIVER, body: { ...REDELIVER.body, until: '2026-11-02T00:00:00Z', includes_received: true, dry_run: true } },
      },
    ],
    ['seals renew', { seals: 'renew', services: ['identity-and-oauth', 'webhooks-dispatcher', 'meetings-bot-gateway', 'signup'] }],
    ['seals renew --service signup --dry-run', { seals: 'count', services: ['signup'] }],
    ['dead-letters redrive webhooks-dispatcher --dry-run', { deadLetters: 'list', consumer: 'webhooks-dispatcher', limit: null }],
    ['dead-letters list bubbles-query', { deadLetters: 'list', consumer: 'bubbles-query', limit: null }],
    ['dead-letters redrive webhooks-dispatcher --limit 5', { deadLetters: 'redrive', consumer: 'webhooks-dispatcher', limit: 5 }],
    ['channels create t1 general', { ...IDENTITY, method: 'POST', path: 'teams/t1/channels', body: { name: 'general', member_ids: null } }],
  ])('%s', (line, expected) => {
    expect(call(line)).toEqual(expected);
  });

  it.each([
    '',
    'accounts',
    'accounts drop',
    'accounts create',
    'accounts set u1',
    'teams set t1',
    'accounts show',
    'accounts show u1 --as a/b',
    'deliveries redeliver wh_1',
    'deliveries redeliver wh_1 --from monday',
    'deliveries redeliver wh_1 --to 2026-11-02T00:00:00Z',
    'seals renew --service gateway',
    'seals renew --service bubbles-query',
    'accounts show a b',
    'accounts list --nope x',
    'accounts state u1 gone',
    'teams create --plan gold',
    'teams set t1 --archived maybe',
    'teams set t1 --trial-ends-at tomorrow',
    'teams set t1 --domain ACME',
    'grants issue u1',
    'grants issue u1 c1 --scopes all',
    'joins list',
    'joins list --stuck --user u1',
    'joins end',
    'rebuild teams',
    'dead-letters list gateway',
    'dead-letters redrive bubbles-query --limit none',
    'dead-letters redrive bubbles-query --limit 0',
  ])('refuses "%s" with a word on what is wrong', (line) => {
    expect(() => call(line)).toThrow(UsageError);
  });

  it('knows who acts by `--as`, else by what the environment says', () => {
    expect(operatorCall(['accounts', 'show', 'u1', '--as', 'ada'], 'ben').operator).toBe('ada');
    expect(operatorCall(['accounts', 'show', 'u1'], 'ben').operator).toBe('ben');
    expect(operatorCall(['accounts', 'show', 'u1']).operator).toBeNull();
    expect(() => operatorCall(['accounts', 'show', 'u1'], 'two words')).toThrow(UsageError);
  });

  it.each([
    ['deliveries redeliver wh_1 --dry-run', 'deliveries redeliver <subscription> --from … [--to …] [--all] [--dry-run]'],
    ['teams create --name Acme', 'teams create --name … --plan … [--domain …]'],
  ])('says of "%s" which flags it lacks, by their names', (line, usage) => {
    expect(() => call(line)).toThrow(usage);
  });

  it('lists every command', () => {
    expect(USAGE).toContain('members set <team> <account> <admin|member|guest> [--hidden]');
  });
});
