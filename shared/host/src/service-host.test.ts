import { eventHandler } from '@bubbles/bus/bus.ts';
import { createMetrics } from '@bubbles/http/ops/metrics.ts';
import { NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { ForeignReplicaSetError, storeUnavailable } from '@bubbles/store/collection.ts';
import { capturedLog } from '@bubbles/testing/captured-log.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { fakeAuthenticator, fakeInternalAuth } from '@bubbles/testing/http.ts';
import { caller } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Infra, Service } from './service.ts';
import { type Host, type HostOptions, hostService, INSTANT_DRAIN } from './service-host.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };
const refusedBy = (code: number, message: string) => storeUnavailable(Object.assign(new Error(message), { code }));
const loginRefused = () => refusedBy(18, 'Authentication failed.');
const rightRefused = () =>
  refusedBy(13, 'not authorized on sample to execute command { createIndexes: "notes", indexes: [ { name: "secret" } ] }');
const unavailable = () => new DomainError('unavailable', 'The store does not answer.');

describe('a service on the wire', () => {
  let host: Host | null = null;
  afterEach(async () => {
    await host?.stop();
    host = null;
  });

  interface Arrangement {
    readonly service?: Partial<Service>;
    readonly options?: Partial<HostOptions>;
    readonly ping?: () => Promise<void>;
    readonly onWait?: () => Promise<void>;
    readonly bus?: Partial<Infra['bus']>;
  }
  /** A host and the order in which things happened to its parts. */
  const arranged = async ({ service = {}, options = {}, ping, onWait, bus = {} }: Arrangement = {}) => {
    const events: string[] = [];
    const note = (event: string) => () => {
      events.push(event);
      return Promise.resolve();
    };
    const infra = {
      clock: systemClock(),
      ids: fakeIds(),
      log: capturedLog().log,
      database: {
        collection: () => Promise.reject(new Error('no collections here')) as never,
        ping: ping ?? (() => Promise.resolve()),
        close: note('database closed'),
      },
      bus: {
        publish: note('published'),
        consume: (consumer: string, { event }: { readonly event: { readonly type: string } }) =>
          note(consumer === 'sample' ? `subscribed to ${event.type}` : `consumes as ${consumer}`)(),
        state: () => ({ isConnected: true, faults: [], consumers: [] }),
        deadLetterCounts: () => Promise.resolve(new Map()),
        check: () => Promise.resolve(),
        idle: note('idle'),
        close: note('bus closed'),
        ...bus,
      },
    };
    const opened = await hostService({
      infra,
      service: {
        name: 'sample',
        routes: sampleRoutes({ ...(onWait && { onWait }) }),
        webhooks: [],
        authenticator: fakeAuthenticator(() => caller),
        idempotency: undefined,
        sealed: [],
        eventHandlers: [],
        publishes: [],
        jobs: [],
        releaseLeases: note('leases released'),
        start: note('started'),
        settle: note('settled'),
        stop: note('stopped'),
        ...service,
      },
      listen: LOCAL,
      ops: LOCAL,
      internalAuth: fakeInternalAuth(),
      publicBaseUrl: 'https://api.test',
      metrics: createMetrics(),
      shedder: NO_SHEDDING,
      drain: INSTANT_DRAIN,
      startJobs: (jobs) => {
        events.push(`jobs: ${jobs.map(({ name }) => name).join()}`);
        return { idle: note('jobs idle'), stop: note('jobs stopped') };
      },
      ...options,
    });
    host = opened;
    const get = (path: string) => fetch(`${opened.url}${path}`);
    const probe = async (path: string) => {
      const answer = await fetch(`${opened.opsUrl}${path}`);
      return `${answer.status} ${(await answer.text()).trim()}`;
    };
    return { host: opened, events, get, probe };
  };

  it('starts, then consumes, then runs its jobs, and stops the other way round', async () => {
    const event = { type: 'a.b.c.v1', publisher: 'a', consumers: ['sample'], schema: z.object({}) };
    const { host: running, events } = await arranged({
      service: {
        eventHandlers: [eventHandler(event, () => Promise.resolve())],
        jobs: [{ name: 'sweep', cron: '* * * * *', run: () => Promise.resolve() }],
      },
    });
    await running.started;
    expect(await running.stop()).toBe(true);
    expect(events).toEqual(['started', 'subscribed to a.b.c.v1', 'jobs: sweep', 'jobs stopped', 'stopped']);
  });

  it('[ERR-05] is off the wire while its store is away: alive, not ready, connections refused; and serves when it is back', async () => {
    let [tries, isAway] = [0, true];
    const {
      host: running,
      get,
      probe,
    } = await arranged({
      service: {
        start: () => {
          tries += 1;
          return isAway ? Promise.reject(unavailable()) : Promise.resolve();
        },
      },
    });
    expect(await probe('/startupz')).toBe('200 started');
    expect(await probe('/livez')).toBe('200 alive');
    expect(await probe('/readyz')).toBe('503 starting: The store does not answer.');
    await expect(get('/v1/things')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    isAway = false;
    await running.started;
    expect(tries).toBeGreaterThan(1);
    expect(await probe('/readyz')).toBe('200 ready');
    expect(await probe('/metrics')).toMatch(/^process_ready 1$/m);
    expect((await get('/v1/things')).status).toBe(200);
  });

  it('that cannot start for another reason says so', async () => {
    const { host: running } = await arranged({ service: { start: () => Promise.reject(new TypeError('two indexes of one name')) } });
    await expect(running.started).rejects.toThrow('two indexes of one name');
  });

  it('told to stop before it has started ends without having started', async () => {
    const { host: running, events } = await arranged({ service: { start: () => Promise.reject(unavailable()) } });
    expect(await running.stop()).toBe(true);
    await running.started;
    expect(events).toEqual([]);
  });

  it('is not ready while its database is silent, away or refuses it, but alive, and says why', async () => {
    const [silent, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let ping = () => silent.promise;
    const { host: running, probe } = await arranged({ ping: () => ping() });
    await running.started;
    expect(await probe('/readyz')).toBe('503 database silent');
    expect(await probe('/livez')).toBe('200 alive');
    silent.reject(storeUnavailable(new Error('connect ECONNREFUSED mongodb://svc:secret@db:27017')));
    ping = () => next.promise;
    expect(await probe('/readyz')).toBe('503 database unreachable: connect ECONNREFUSED mongodb://[redacted]@db:27017');
    expect(await probe('/metrics')).toMatch(/^process_ready 0$/m);
    next.reject(loginRefused());
    expect(await probe('/readyz')).toBe('503 database refuses the user or the password');
    ping = () => Promise.resolve();
    expect(await probe('/readyz')).toBe('200 ready');
  });

  it('is ready while its broker is away, and says what is wrong with it', async () => {
    const faults: string[] = [];
    const { host: running, probe } = await arranged({ bus: { state: () => ({ isConnected: false, faults, consumers: [] }) } });
    await running.started;
    expect(await probe('/readyz')).toBe('200 ready');
    faults.push('the broker at mq:5672 is out of reach: ECONNREFUSED', 'the broker lacks the queue a.b');
    expect(await probe('/readyz')).toBe(`200 ready\n${faults.join('\n')}`);
  });

  it.each([
    ['the broker', { bus: { check: () => Promise.reject(new StartupError('AMQP_URL: refused.')) } }, 'AMQP_URL: refused.'],
    [
      'its database',
      { service: { start: () => Promise.reject(loginRefused()) } },
      'MONGODB_URL: the database refuses the user or the password.',
    ],
    [
      'a right',
      { service: { start: () => Promise.reject(rightRefused()) } },
      'MONGODB_URL: the database does not let the user createIndexes in sample.',
    ],
    [
      'a right in other words',
      { service: { start: () => Promise.reject(refusedBy(13, 'not authorized on sample to execute command (action: find)')) } },
      'MONGODB_URL: the database does not let the user find in sample.',
    ],
    [
      'a right without saying which',
      { service: { start: () => Promise.reject(refusedBy(13, 'Unauthorized')) } },
      'MONGODB_URL: the database does not let the user do what the service needs.',
    ],
    [
      'who does not log in',
      { service: { start: () => Promise.reject(refusedBy(13, 'Command find requires authentication')) } },
      'MONGODB_URL: the database asks for a user and a password.',
    ],
    [
      'who looks for another replica set',
      { service: { start: () => Promise.reject(storeUnavailable(new ForeignReplicaSetError('at a:1 is in the replica set rs1, and …'))) } },
      'MONGODB_URL: the database at a:1 is in the replica set rs1, and ….',
    ],
  ])('does not start when %s refuses it, and says so in one line', async (_, arrangement, message) => {
    const { host: running, events } = await arranged(arrangement);
    await expect(running.started).rejects.toMatchObject({ name: 'StartupError', message });
    expect(events.filter((event) => /consumes|subscribed|jobs/.test(event))).toEqual([]);
  });

  it('says at once that broker and database refuse it, each in a line', async () => {
    const refusing = Promise.withResolvers<void>();
    const { host: running } = await arranged({
      bus: { check: () => refusing.promise },
      service: { start: () => Promise.reject(loginRefused()) },
    });
    refusing.reject(new StartupError('AMQP_URL: refused.'));
    await expect(running.started).rejects.toMatchObject({
      name: 'StartupError',
      message: 'MONGODB_URL: the database refuses the user or the password.\nAMQP_URL: refused.',
    });
  });

  it('says that the broker refuses it while the database is out of reach', async () => {
    const { host: running } = await arranged({
      bus: { check: () => Promise.reject(new StartupError('AMQP_URL: refused.')) },
      service: { start: () => Promise.reject(unavailable()) },
    });
    await expect(running.started).rejects.toMatchObject({ name: 'StartupError', message: 'AMQP_URL: refused.' });
  });

  it('tells of a fault that is none of the configuration before a refusal', async () => {
    const { host: running } = await arranged({
      bus: { check: () => Promise.reject(new StartupError('AMQP_URL: refused.')) },
      service: { start: () => Promise.reject(new TypeError('a bug')) },
    });
    await expect(running.started).rejects.toThrow('a bug');
  });

  it('is not ready after ten seconds of refusing for overload', async () => {
    const since = performance.now() - 10_001;
    const shedder = { ...NO_SHEDDING, refusingSince: () => since };
    const { host: running, probe } = await arranged({ options: { shedder } });
    await running.started;
    expect(await probe('/readyz')).toBe('503 overloaded');
  });

  it('finishes what is on its way before jobs and service end, and is not ready meanwhile', async () => {
    const asked = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const {
      host: running,
      events,
      get,
      probe,
    } = await arranged({
      onWait: async () => {
        asked.resolve();
        await finish.promise;
      },
    });
    await running.started;
    const answer = get('/v1/waits');
    await asked.promise;
    const stopped = running.stop();
    expect(await probe('/readyz')).toBe('503 draining');
    expect(events).not.toContain('jobs stopped');
    finish.resolve();
    expect((await answer).status).toBe(200);
    expect(await stopped).toBe(true);
    expect(events.slice(-2)).toEqual(['jobs stopped', 'stopped']);
  });

  it('counts by route template: no id, no query and no token is a label', async () => {
    const { host: running, get } = await arranged();
    await running.started;
    await get('/v1/things/abc?q=svc_pat_secret');
    await get('/v1/elsewhere/svc_pat_secret');
    const text = await (await fetch(`${running.opsUrl}/metrics`)).text();
    expect(text).toContain('http_request_duration_seconds_count{service="sample",method="GET",route="/v1/things/{id}",status="200"} 1');
    expect(text).toContain('route="unmatched",status="404"} 1');
    expect(text).not.toContain('svc_pat_secret');
  });

  it('shows nothing else on its ops port', async () => {
    const { probe } = await arranged();
    for (const path of ['/', '/v1/things', '/__proto__', '/toString', '/livez/']) expect(await probe(path)).toBe('404 not found');
  });
});
