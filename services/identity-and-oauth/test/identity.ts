import { randomUUID } from 'node:crypto';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { type FakeMailTransport, fakeMailTransport } from '@bubbles/testing/fake-mail-transport.ts';
import { asService } from '@bubbles/testing/http.ts';
import { type RecordingBus, recordingBus } from '@bubbles/testing/recording-bus.ts';
import { startTestService } from '@bubbles/testing/service-under-test.ts';
import { identityAndOauthWith } from '../src/service.ts';
import { AT } from './builders.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it asserts; the routes prove the rest with their schemas.
  readonly body: any;
}

export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface Person {
  readonly id: string;
  readonly session: string;
  readonly sessionId: string;
  readonly pat: string;
  readonly patId: string;
}

export interface TestIdentity {
  readonly clock: FakeClock;
  readonly bus: RecordingBus;
  /** What it mails, and how the mail server answers. */
  readonly mail: FakeMailTransport;
  readonly database: Database;
  /** With a bearer token; null for none. */
  as(token: string | null, headers?: Readonly<Record<string, string>>): Call;
  service(name: string): Call;
  /** As a browser sends it; follows no redirect. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** An operator, below `/internal/v1/admin/`. */
  readonly admin: Call;
  /** An active account with a session and a key. */
  person(fields?: object): Promise<Person>;
  /** A team, pro if not said otherwise; answers its id. */
  team(fields?: object): Promise<string>;
  join(teamId: string, userId: string, member?: object): Promise<void>;
  settle(): Promise<void>;
  runJob(name: string): Promise<void>;
  stop(): Promise<void>;
}

export interface TestIdentityOptions {
  /** Of another replica, to share its data. */
  readonly database?: Database;
  readonly clock?: FakeClock;
  readonly log?: Log;
  /** Stand-ins for those that it asks; the others are away. */
  readonly peers?: Readonly<Record<string, InternalClient>>;
  /** Variables that are not to have the value of a test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** `await` leaves the steps of identity to the test. */
  readonly migrations?: 'await' | 'run';
  /** Metadata documents of this machine may be fetched, as in the sandbox. */
  readonly localDocuments?: boolean;
}

/** The service over a real socket, on a store in memory, with a clock that stands still. */
export const startIdentity = async ({
  clock = fakeClock(AT),
  localDocuments = false,
  ...options
}: TestIdentityOptions = {}): Promise<TestIdentity> => {
  const bus = recordingBus();
  const mail = fakeMailTransport();
  const definition = identityAndOauthWith(({ documents, ...config }) => ({
    ...config,
    documents: documents && { ...documents, loopback: localDocuments, offline: true },
    mailTransport: () => mail,
  }));
  const identity = await startTestService(definition, { ...options, clock, bus });

  const call =
    (headers: Readonly<Record<string, string>>, prefix = ''): Call =>
    async (method, path, body) => {
      const response = await identity.fetch(prefix + path, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
    };
  const admin = call(asService('operator'), '/internal/v1/admin/');
  const made = async (path: string, body: object) => {
    const answer = await admin('POST', path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  return {
    clock,
    bus,
    mail,
    database: identity.database,
    admin,
    as: (token, headers = {}) => call({ ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) }),
    service: (name) => call(asService(name)),
    fetch: (path, init) => identity.fetch(path, { redirect: 'manual', ...init }),
    person: async (fields) => {
      const body = await made('accounts', {
        name: 'Ada',
        email: `ada-${randomUUID().slice(0, 8)}@acme.test`,
        picture_url: null,
        key_name: 'first',
        ...fields,
      });
      return {
        id: body.account.user_id,
        session: body.session.session_token,
        sessionId: body.session.id,
        pat: body.key?.token ?? '',
        patId: body.key?.id ?? '',
      };
    },
    team: async (fields) => (await made('teams', { name: 'Acme', plan: 'pro', ...fields })).id,
    join: async (teamId, userId, member) => {
      await admin('PUT', `teams/${teamId}/members/${userId}`, { role: 'member', ...member });
    },
    settle: () => identity.service.settle(),
    runJob: identity.runJob,
    stop: identity.stop,
  };
};
