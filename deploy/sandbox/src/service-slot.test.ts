import { generateKeyPairSync } from 'node:crypto';
import { userGuards } from '@bubbles/auth/guards.ts';
import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { defineService } from '@bubbles/host/service.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { aCaller, SILENT_LOG } from '@bubbles/testing/http.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterEach, expect, it } from '@jest/globals';
import { type ServiceSlot, serviceSlot } from './service-slot.ts';

let slot: ServiceSlot | null = null;
afterEach(async () => {
  await slot?.stop();
  slot = null;
});

it('a service can be taken off the wire, put back on the same port, and slowed down', async () => {
  const clock = systemClock();
  const { publicKey } = generateKeyPairSync('ed25519');
  const opened = serviceSlot({
    definition: defineService({
      name: 'sample',
      variables: {},
      asks: [],
      compose: () => ({
        routes: sampleRoutes({ guards: userGuards(() => Promise.resolve({ caller: aCaller({ scopes: ['things:read'] }) })) }),
        ensureIndexes: () => Promise.resolve(),
      }),
    }),
    environment: {
      PUBLIC_BASE_URL: 'https://api.test',
      CALLER_KEYS: `gateway=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
    },
    events: [],
    port: 0,
    bus: createMemoryBus({ clock, log: SILENT_LOG }),
    infra: { clock, ids: systemIds(), log: SILENT_LOG, database: openEmbedded({ path: ':memory:', log: SILENT_LOG }).database('sample') },
  });
  slot = opened;
  const get = (path: string) => fetch(`${opened.url}${path}`);
  await opened.start();
  await opened.setState({ state: 'down' });
  expect(await rawExchange(opened.url, 'GET / HTTP/1.1\r\n\r\n')).toBe('');
  await expect(get('/v1/things')).rejects.toThrow();
  await opened.setState({ state: 'up' });
  expect((await get('/v1/things')).status).toBe(200);
  await opened.setState({ state: 'slow', ms: 120 });
  const began = performance.now();
  expect((await get('/v1/things')).status).toBe(200);
  expect(performance.now() - began).toBeGreaterThanOrEqual(119);
});
