import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICES } from '@bubbles/contracts/services.ts';
import { readProcessConfig } from '@bubbles/host/variables.ts';
import { aCaller, SILENT_LOG } from '@bubbles/testing/http.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { startTestService, type TestService, testSecret } from '@bubbles/testing/service-under-test.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openKeys } from '../../deploy/keys/src/keys.ts';
import { readSandboxConfig } from '../../deploy/sandbox/src/config.ts';
import { type Sandbox, startSandbox } from '../../deploy/sandbox/src/sandbox.ts';
import { PRODUCT, type Product } from '../../deploy/services/src/product.ts';
import { defaultReplicas, planProcesses } from '../../deploy/stack/src/plan.ts';
import { NOTES_ENTRY, Note, NoteWrittenV1 } from './contracts.ts';
import { notes } from './notes/service.ts';

/** The product with the service, as the edits that docs/service-owners.md ("Add a service") names make it. */
const WITH_NOTES: Product = {
  definitions: [...PRODUCT.definitions, notes],
  services: {
    ...PRODUCT.services,
    'identity-and-oauth': { ...SERVICES['identity-and-oauth'], callers: [...SERVICES['identity-and-oauth'].callers, 'notes'] },
    notes: NOTES_ENTRY,
  },
  events: [...PRODUCT.events, NoteWrittenV1],
};
const DAY_SECONDS = 24 * 60 * 60;
const asJson = (body: unknown) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

describe('a new service alone', () => {
  const bus = recordingBus();
  let service: TestService;
  afterEach(() => service.stop());

  it('serves, tells of what it wrote, and runs its job', async () => {
    service = await startTestService(notes, { bus, events: WITH_NOTES.events });
    service.actAs(aCaller({ userId: 'ada' }));
    const written = await service.fetch('/v1/notes', asJson({ text: 'Call Ben.' }));
    expect(written.status).toBe(201);
    const { id } = Note.parse(await written.json());
    await service.service.settle();
    expect(bus.published).toMatchObject([{ type: NoteWrittenV1.type, source: 'notes', data: { note_id: id, owner_id: 'ada' } }]);
    await service.runJob('drop-old-notes');
    expect((await service.fetch(`/v1/notes/${id}`)).status).toBe(200);
    await service.clock.advance(31 * DAY_SECONDS * 1000);
    await service.runJob('drop-old-notes');
    expect((await service.fetch(`/v1/notes/${id}`)).status).toBe(404);
  });

  it('takes the raw bytes of a webhook that are signed with its key', async () => {
    service = await startTestService(notes, { bus, events: WITH_NOTES.events });
    const body = 'Call Ben.';
    const post = (key: Buffer) =>
      service.fetch('/v1/notes/mail', {
        method: 'POST',
        headers: {
          'content-type': 'text/plain',
          'x-mail-owner': 'ada',
          'x-mail-signature': createHmac('sha256', key).update(body).digest('hex'),
        },
        body,
      });
    expect((await post(testSecret('mail', 32))).status).toBe(204);
    expect((await post(Buffer.alloc(32))).status).toBe(401);
  });
});

describe('a new service in the sandbox', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(readSandboxConfig(['--data', ':memory:'], { PORT: '0' }), () => SILENT_LOG, WITH_NOTES);
  });
  afterAll(() => sandbox.stop());

  const call = (path: string, init: RequestInit = {}, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${sandbox.url}${path}`, { redirect: 'manual', ...init, headers: { ...init.headers, ...headers } });
  const control = async (path: string, body: unknown = {}) => (await call(`/_sandbox/${path}`, asJson(body))).json();

  it('is behind the gateway, settles, and runs its job when the clock passes it', async () => {
    const authorization = { authorization: `Bearer ${sandbox.world().users['ada']?.pat}` };
    const written = await call('/v1/notes', asJson({ text: 'Call Ben.' }), authorization);
    expect(written.status).toBe(201);
    const { id } = Note.parse(await written.json());
    expect(await control('settle')).toEqual({ settled: true });
    expect((await call(`/v1/notes/${id}`, {}, authorization)).status).toBe(200);
    await control('clock', { advance_seconds: 31 * DAY_SECONDS });
    expect((await call(`/v1/notes/${id}`, {}, authorization)).status).toBe(404);
  });

  it('[API-04] announces what is to go: to who uses it, in the document and to scripts of other origins', async () => {
    const authorization = { authorization: `Bearer ${sandbox.world().users['ada']?.pat}` };
    const { id } = Note.parse(await (await call('/v1/notes', asJson({ text: 'Call Ben.' }), authorization)).json());
    const announced = async (path: string) => {
      const { headers } = await call(path, {}, authorization);
      return [headers.get('deprecation'), headers.get('sunset')];
    };
    expect(await announced(`/v1/notes/${id}`)).toEqual([null, null]);
    expect(await announced(`/v1/notes/${id}?style=plain`)).toEqual(['@1769817600', 'Sun, 31 Jan 2027 00:00:00 GMT']);
    expect(await announced(`/v1/notes/${id}?style=loud`)).toEqual(['@1769817600', 'Sun, 31 Jan 2027 00:00:00 GMT']);
    const document = Object(await (await call('/v1/openapi.json')).json());
    expect(document.paths['/v1/notes/{id}'].get.parameters).toContainEqual({
      name: 'style',
      in: 'query',
      required: false,
      deprecated: true,
      'x-sunset': '2027-01-31',
      description:
        'How the text is to be written. Deprecated since 2026-01-31, works until 2027-01-31 at least. Leave it out: every note is plain text.',
      schema: { type: 'string', enum: ['plain'] },
    });
    const exposed = (await call('/v1/me', {}, { origin: 'https://elsewhere.test' })).headers.get('access-control-expose-headers');
    expect(exposed?.split(', ')).toEqual(expect.arrayContaining(['Deprecation', 'Sunset']));
  });

  it('shows its page and takes its form', async () => {
    const page = await call('/v1/notes/page');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await (await call('/v1/notes/page?owner=%22%3E%3Cb%3E')).text()).toContain('value="&quot;&gt;&lt;b&gt;"');
    const sent = await call('/v1/notes/page', { method: 'POST', body: new URLSearchParams({ owner: 'ada', text: 'Call Ben.' }) });
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/v1/notes/page']);
  });

  it('can be taken down like every other', async () => {
    expect(await control('services/notes', { state: 'down' })).toEqual({ name: 'notes', state: 'down' });
    expect((await call('/v1/notes/page')).status).toBe(500);
    await control('services/notes', { state: 'up' });
    expect((await call('/v1/notes/page')).status).toBe(200);
  });

  it('has its operations in the document of the product, but not its pages', async () => {
    const { paths } = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(await (await call('/v1/openapi.json')).json());
    expect(Object.keys(paths).filter((path) => path.startsWith('/v1/notes'))).toEqual(['/v1/notes', '/v1/notes/{id}']);
  });
});

describe('a new service as a process', () => {
  it('says what it is not told', () => {
    const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('notes/main.ts', import.meta.url))], {
      env: {},
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining('MAIL_KEY: is required')]);
  });
});

describe('a new service in the stack', () => {
  const home = mkdtempSync(join(tmpdir(), 'stack-'));
  afterAll(() => rmSync(home, { recursive: true }));
  const layout = {
    port: 8180,
    amqpUrl: 'amqp://broker',
    mongoUrl: 'mongodb://store',
    databasePrefix: '',
    replicas: defaultReplicas(WITH_NOTES),
    folder: '/stack',
    drainNotice: '1s',
    shedding: true,
    settings: {},
  };

  it('is planned with an environment that its process takes, a database, and a place behind the gateway', () => {
    const plans = planProcesses(layout, openKeys(home), WITH_NOTES);
    const [plan, ...others] = plans.filter(({ service }) => service === 'notes');
    expect(others).toHaveLength(1);
    const config = readProcessConfig(notes, plan?.environment ?? {});
    expect([config.mongoDatabase, [...config.callers.keys()], [...config.urls.keys()]]).toEqual([
      'bubbles_notes',
      ['gateway'],
      ['identity-and-oauth'],
    ]);
    const gateway = plans.find(({ service }) => service === 'gateway');
    expect(gateway?.environment['UPSTREAMS']).toContain(`notes=${plan?.url}`);
  });
});
