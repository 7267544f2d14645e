import type { Database } from '@bubbles/store/collection.ts';
import { type CapturedLog, capturedLog } from '@bubbles/testing/captured-log.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { type FakeMailTransport, fakeMailTransport } from '@bubbles/testing/fake-mail-transport.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { startTestService } from '@bubbles/testing/service-under-test.ts';
import { signupWith } from '../src/service.ts';
import { type FakeIdentity, fakeIdentity } from './fake-identity.ts';

export const NOON = new Date('2026-03-01T12:00:00.000Z');
export const ADA = 'ada@acme.example';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it asserts; the routes prove the rest with their schemas.
  readonly body: any;
}

type Fields = Readonly<Record<string, unknown>>;
export type Method = 'POST' | 'GET';

export interface TestSignup {
  readonly clock: FakeClock;
  readonly identity: FakeIdentity;
  readonly mail: FakeMailTransport;
  readonly database: Database;
  readonly log: CapturedLog;
  /** One step, by its POST unless the alias is named; `from`: the address of the client. */
  step(path: string, fields: Fields, options?: { readonly method?: Method; readonly from?: string }): Promise<Answer>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The code that was mailed to the address last. */
  codeFor(address: string): Promise<string>;
  /** The session of a flow that was started. */
  started(address?: string): Promise<string>;
  verified(address?: string): Promise<string>;
  listed(address?: string): Promise<string>;
  created(address?: string): Promise<string>;
  pass(seconds: number): Promise<void>;
  settle(): Promise<void>;
  runJob(name: string): Promise<void>;
  stop(): Promise<void>;
}

export interface SignupOptions {
  /** Of another process, to share its data. */
  readonly database?: Database;
  readonly clock?: FakeClock;
  readonly identity?: FakeIdentity;
  readonly mail?: FakeMailTransport;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The service over a real socket, on a store in memory, with a clock that stands still. */
export const startSignup = async (options: SignupOptions = {}): Promise<TestSignup> => {
  const { clock = fakeClock(NOON), identity = fakeIdentity(), mail = fakeMailTransport(), database = memoryDatabase() } = options;
  const log = capturedLog();
  const environment = { SIGNUP_STARTS_PER_CLIENT: '1000000', ...options.environment };
  const definition = signupWith((config) => ({ ...config, mailTransport: () => mail }));
  const peers = { 'identity-and-oauth': identity.client };
  const running = await startTestService(definition, { database, clock, log: log.log, peers, environment });

  const step: TestSignup['step'] = async (path, fields, { method = 'POST', from = '198.51.100.1' } = {}) => {
    const query = method === 'GET' ? `?${new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))}` : '';
    const response = await running.fetch(`/v1/signup/${path}${query}`, {
      method,
      headers: { 'x-forwarded-for': from, ...(method === 'POST' && { 'content-type': 'application/json' }) },
      ...(method === 'POST' && { body: JSON.stringify(fields) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  const taken = async (path: string, fields: Fields): Promise<string> => {
    const { status, text, body } = await step(path, fields);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return body.signup_session;
  };
  const settle = () => running.service.settle();
  const codeFor = async (address: string): Promise<string> => {
    await settle();
    const [code] = /\d{6}/.exec(mail.accepted.findLast(({ to }) => to === address)?.text ?? '') ?? [];
    if (code === undefined) throw new Error('no code was mailed');
    return code;
  };
  const started = (address = ADA) => taken('start', { email: address });
  const verified = async (address = ADA) => {
    const session = await started(address);
    return taken('verify', { signup_session: session, code: await codeFor(address) });
  };
  const listed = async (address = ADA) => taken('workspaces', { signup_session: await verified(address) });
  return {
    clock,
    identity,
    mail,
    database,
    log,
    step,
    fetch: running.fetch,
    codeFor,
    started,
    verified,
    listed,
    created: async (address = ADA) =>
      taken('workspace', { signup_session: await listed(address), action: 'create', workspace_name: 'Acme' }),
    async pass(seconds) {
      await clock.advance(seconds * 1000);
      await settle();
    },
    settle,
    runJob: running.runJob,
    stop: running.stop,
  };
};

/** Another code than that one. */
export const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000');
