import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { SERVICES } from '@bubbles/contracts/services.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultReplicas } from '../../deploy/stack/src/plan.ts';
import { openStack, type Stack } from '../../deploy/stack/src/stack.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { type Backup, restoreBackup, takeBackup } from './support/backup.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { untilSo } from './support/within.ts';

/** As docs/backups.md says. */
const ORDER = ['identity-and-oauth', 'meetings-bot-gateway', 'bubbles-query', 'webhooks-dispatcher', 'signup'] as const;
const PORT = Number(process.env['CHAOS_PORT'] ?? 8480);
const TEAM = { name: 'Team', plan: 'pro', archived: false, domain: null, discoverable: false, trial_ends_at: null } as const;
const SETTINGS = { WEBHOOK_ALLOW_HTTP: '1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };

interface Site {
  readonly engines: FrailEngines;
  readonly stack: Stack;
  readonly outside: Outside;
  readonly home: string;
  close(): Promise<void>;
}

/** A stack with engines of its own; `prepare` has them before any process. */
const openSite = async (keysOf: string | null, prepare: (engines: FrailEngines) => Promise<void>): Promise<Site> => {
  const engines = await frailEngines();
  const home = mkdtempSync(join(tmpdir(), 'restore-'));
  if (keysOf !== null) cpSync(join(keysOf, 'keys'), join(home, 'keys'), { recursive: true });
  await prepare(engines);
  const replicas = Object.fromEntries(Object.keys(defaultReplicas()).map((name) => [name, 1]));
  const { amqpUrl, mongoUrl } = engines;
  const layout = { amqpUrl, mongoUrl, port: PORT, folder: home, databasePrefix: '', replicas, drainNotice: '0s', shedding: false };
  const stack = openStack({ home, layout: { ...layout, settings: SETTINGS } });
  await stack.up();
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  const outside = await openOutside({ amqpUrl, operatorKeyFile: stack.keys.privateKeyFile('operator'), identityUrls });
  const close = async () => {
    await outside.close();
    await Promise.all(stack.plans.map((plan) => stack.processes.end(plan, 'SIGTERM')));
    await engines.close();
  };
  return { engines, stack, outside, home, close };
};

const ask = async ({ stack }: Site, pat: string, path: string, method = 'GET', body?: object) => {
  const response = await fetch(`${stack.plansOf('gateway')[0]?.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${pat}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
};
const titlesOf = async (site: Site, pat: string): Promise<readonly string[]> => {
  const { body } = await ask(site, pat, '/v1/bubbles?limit=50');
  return body.data.map(({ title }: { readonly title: string }) => title);
};

/** Says yes, or no while it is told to; what it was sent, in order. */
const receiver = async () => {
  const arrived: { readonly delivery: string; readonly title: string }[] = [];
  const state = { accepts: true };
  const server = createServer(async (req, res) => {
    const sent = await text(req).catch(() => null);
    // Its sender has ended over it.
    if (sent === null) return;
    const { data } = JSON.parse(sent);
    arrived.push({ delivery: String(req.headers['x-service-delivery']), title: data.bubble.title });
    res.writeHead(state.accepts ? 204 : 500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/hook`, arrived, state, close: () => server.close() };
};

const documentIn = (backup: Backup, space: string, id: string) => {
  const [database = '', collection] = space.split('/');
  const stored = backup.get(database)?.find(({ name }) => name === collection);
  return stored?.documents.find(({ _id }) => String(_id) === id) ?? null;
};

/** Seldom enough for a token that may be used 120 times a minute. */
const LOOK_MS = 700;
const until = (what: string, isSo: () => boolean | Promise<boolean>) =>
  untilSo({ what }, async () => {
    await pause(LOOK_MS);
    return isSo();
  });

describe('the order of a backup', () => {
  it('takes every publisher before its consumers, and each database', () => {
    const place = (name: string) => ORDER.findIndex((one: string) => one === name);
    const arrows = EVENTS.flatMap(({ publisher, consumers }) => consumers.map((consumer) => [publisher, consumer] as const));
    const own = arrows.filter(([publisher]) => publisher in SERVICES);
    expect(own.length).toBeGreaterThan(3);
    expect(own.filter(([publisher, consumer]) => place(publisher) >= place(consumer))).toEqual([]);
    expect(ORDER.toSorted()).toEqual(Object.keys(SERVICES).toSorted());
  });
});

describe('a restore from a backup', () => {
  let hook: Awaited<ReturnType<typeof receiver>>;
  let site: Site;
  let homes: readonly string[] = [];
  beforeAll(async () => {
    hook = await receiver();
  });
  afterAll(async () => {
    await site?.close();
    hook?.close();
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  });

  it('brings back what was there, sends what waited, and forgets what came later', async () => {
    site = await openSite(null, () => Promise.resolve());
    homes = [site.home];
    const { actions, identity } = site.outside;
    const ada = await actions.createUser({ name: 'Ada', email: 'ada@example.com' });
    const ben = await actions.createUser({ name: 'Ben', email: 'ben@example.com' });
    const members = [ada, ben].map(({ id }) => ({ user_id: id, role: 'admin', hidden: false }) as const);
    const team = await actions.createTeam({ ...TEAM, members, channels: [] });
    const spare = await identity.issueTokens(ada.id, 'spare');
    const record = (title: string) =>
      site.outside.actions.createBubble({
        type: 'screen_recording',
        title,
        participant_ids: [ada.id],
        author_id: ben.id,
        team_id: team.id,
        stage: 'ready',
      });
    const seen = (title: string) => until(`${title} is listed`, async () => (await titlesOf(site, ada.pat)).includes(title));
    const subscribed = await ask(site, ada.session_token, '/v1/webhooks', 'POST', {
      url: hook.url,
      events: ['bubble.ready'],
      team_id: team.id,
    });
    expect(subscribed.status).toBe(201);
    await record('arrived');
    await seen('arrived');
    await until('the first delivery', () => hook.arrived.length === 1);
    hook.state.accepts = false;
    await record('waiting');
    await until('the second delivery', () => hook.arrived.length === 2);

    // An event that waits in an outbox, since the broker is away. Those before it have arrived.
    const known = async () => documentIn(await takeBackup(site.engines.mongoUrl, ['bubbles-query']), 'bubbles_query/people', ben.id);
    await until('Ben is known', async () => (await known())?.['name'] === 'Ben');
    await site.engines.kill('broker');
    await actions.changeUser(ben.id, { name: 'Benjamin' });
    const backup: Backup = await takeBackup(site.engines.mongoUrl, ORDER);
    expect(documentIn(backup, 'bubbles_query/people', ben.id)).toMatchObject({ name: 'Ben' });
    expect(documentIn(backup, 'bubbles_identity/accounts', ben.id)).toMatchObject({ name: 'Benjamin', outbox: [expect.anything()] });
    await site.engines.revive();

    // What the backup does not know.
    hook.state.accepts = true;
    const late = await actions.createUser({ name: 'Late', email: 'late@example.com' });
    const keys = (await ask(site, ada.session_token, '/v1/api-keys')).body.data;
    const spareId = keys.find(({ name }: { readonly name: string }) => name === 'spare').id;
    expect((await ask(site, ada.session_token, `/v1/api-keys/${spareId}`, 'DELETE')).status).toBeLessThan(300);
    await until('the spare key is over', async () => (await ask(site, spare.pat, '/v1/me')).status === 401);
    await site.outside.settle();
    await record('later');
    await seen('later');
    await site.close();
    const before = hook.arrived.length;

    site = await openSite(site.home, ({ mongoUrl }) => restoreBackup(mongoUrl, backup));
    homes = [...homes, site.home];
    expect(await titlesOf(site, ada.pat)).toEqual(['waiting', 'arrived']);
    expect((await ask(site, late.pat, '/v1/me')).status).toBe(401);
    // A key that was revoked since is good again, until that is repeated.
    expect((await ask(site, spare.pat, '/v1/me')).status).toBe(200);
    expect((await ask(site, ada.session_token, `/v1/api-keys/${spareId}`, 'DELETE')).status).toBeLessThan(300);
    await until('the spare key is over again', async () => (await ask(site, spare.pat, '/v1/me')).status === 401);
    // The event that waited has been sent.
    await until('the name has arrived', async () => (await known())?.['name'] === 'Benjamin');
    // What waited goes out again under its own id, and what had arrived does not.
    const deliveryOf = (title: string, from: number) => hook.arrived.slice(from).filter((one) => one.title === title);
    const [waiting] = deliveryOf('waiting', 0);
    await until('the delivery that waited', () => deliveryOf('waiting', before).length > 0);
    expect(deliveryOf('waiting', before).map(({ delivery }) => delivery)).toEqual([waiting?.delivery]);
    expect(deliveryOf('arrived', before)).toEqual([]);
    // The pipeline tells again what it told since.
    const { actions: again } = site.outside;
    await again.createBubble({
      type: 'screen_recording',
      title: 'told again',
      participant_ids: [ada.id],
      team_id: team.id,
      stage: 'ready',
    });
    await until('it is listed', async () => (await titlesOf(site, ada.pat)).includes('told again'));
    await until('it is delivered', () => deliveryOf('told again', before).length === 1);
  });
});
