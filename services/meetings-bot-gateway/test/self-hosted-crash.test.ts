import { afterEach, describe, expect, it } from '@jest/globals';
import { type FakeAttendee, startFakeAttendee } from './attendee-server.ts';
import { NOON } from './builders.ts';
import { ask, dieEverywhere } from './dying.ts';
import { type FakeVexa, startFakeVexa } from './vexa-server.ts';

const KEY = 'k3y';
const SECRET = Buffer.from('a-secret-that-nobody-may-see-now');
const settings = (provider: string, url: string) => ({
  NOTETAKERS: `google_meet=${provider}`,
  [`${provider.toUpperCase()}_URL`]: url,
  [`${provider.toUpperCase()}_API_KEY`]: KEY,
  [`${provider.toUpperCase()}_WEBHOOK_SECRET`]: SECRET.toString(provider === 'attendee' ? 'base64' : 'utf8'),
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

describe('dying between any two steps of the store, of a request and its dispatch', () => {
  it('[MEET-10][MEET-11] sends one notetaker of an Attendee', async () => {
    let attendee: FakeAttendee | null = null;
    const deaths = await dieEverywhere({
      async environment() {
        await stops.pop()?.();
        attendee = await startFakeAttendee({ apiKey: KEY, secret: SECRET, now: () => NOON });
        stops.push(attendee.stop);
        return settings('attendee', attendee.url);
      },
      async work(doomed, settle) {
        await ask(doomed);
        // Another death finds a bot that has failed already, which the guard of Attendee forgets.
        await settle();
        for (const bot of attendee?.bots ?? []) attendee?.happen(bot, 'could_not_join_meeting', 'fatal_error', 'meeting_not_found');
      },
      async judge(survivor) {
        const { id } = (await ask(survivor)).body;
        await survivor.settle();
        expect(attendee?.bots.map(({ key }) => key)).toEqual([id]);
        expect((await survivor.status(id)).status).toBe(200);
      },
    });
    expect(deaths).toBeGreaterThan(15);
  });

  it('[MEET-10][MEET-11] sends one notetaker of a Vexa', async () => {
    let vexa: FakeVexa | null = null;
    const deaths = await dieEverywhere({
      async environment() {
        await stops.pop()?.();
        vexa = await startFakeVexa({ apiKey: KEY, secret: SECRET, now: () => NOON });
        stops.push(vexa.stop);
        return settings('vexa', vexa.url);
      },
      async work(doomed, settle) {
        await ask(doomed);
        await settle();
      },
      async judge(survivor) {
        const { id } = (await ask(survivor)).body;
        await survivor.settle();
        expect(vexa?.meetings).toHaveLength(1);
        expect((await survivor.status(id)).body.status).toBe('dispatched');
      },
    });
    expect(deaths).toBeGreaterThan(15);
  });
});
