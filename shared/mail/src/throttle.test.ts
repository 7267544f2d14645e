import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { type MakeDatabase, onEveryEngine, openedIn } from '../test/engines.ts';
import { createThrottle } from './throttle.ts';

const SECOND_MS = 1000;
const three = { limit: 3, windowMs: 60 * SECOND_MS };

const scene = async (make: MakeDatabase) => {
  const clock = fakeClock();
  const database = make();
  const replica = () => openedIn(database, (open) => createThrottle({ open, clock }));
  return { clock, throttle: await replica(), other: await replica(), stored: database.collection('throttles') };
};

const contract = (make: MakeDatabase) => {
  it('lets as many through as the limit says, and says to the second when the next one is', async () => {
    const { clock, throttle, other } = await scene(make);
    for (let use = 0; use < 3; use += 1) {
      expect(await throttle.take('ada', three)).toEqual({ allowed: true });
      await clock.advance(10 * SECOND_MS);
    }
    expect(await other.take('ada', three)).toEqual({ allowed: false, retryAfterSeconds: 30 });
    await clock.advance(29_500);
    expect(await other.take('ada', three)).toEqual({ allowed: false, retryAfterSeconds: 1 });
    await clock.advance(500);
    expect(await other.take('ada', three)).toEqual({ allowed: true });
    expect(await throttle.take('ada', three)).toEqual({ allowed: false, retryAfterSeconds: 10 });
    expect(await throttle.take('ben', three)).toEqual({ allowed: true });
  });

  it('lets three of fifty through that come at once over two replicas, also when the key is new', async () => {
    const { throttle, other } = await scene(make);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? throttle : other).take('ada', three)));
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(3);
  });

  it('counts no use that it refused', async () => {
    const { clock, throttle } = await scene(make);
    for (let use = 0; use < 20; use += 1) await throttle.take('ada', three);
    await clock.advance(60 * SECOND_MS);
    expect(await throttle.take('ada', three)).toEqual({ allowed: true });
  });

  it('keeps to a limit that has changed', async () => {
    const { throttle } = await scene(make);
    for (let use = 0; use < 3; use += 1) await throttle.take('ada', three);
    expect(await throttle.take('ada', { ...three, limit: 2 })).toMatchObject({ allowed: false });
    expect(await throttle.take('ada', { ...three, limit: 4 })).toEqual({ allowed: true });
    expect(await throttle.take('ada', { ...three, limit: 4 })).toMatchObject({ allowed: false });
  });

  describe('for a mailbox', () => {
    const windows = [{ limit: 5, perClient: 3, windowMs: 60 * SECOND_MS }];
    const mailbox = 'codes of ada';
    /** How many of twelve codes are mailed when a client asks for them. */
    const mailedTo = async (
      { takeForMailbox }: Pick<Awaited<ReturnType<typeof createThrottle>>, 'takeForMailbox'>,
      client: string,
      site = client,
    ) => {
      let mailed = 0;
      for (let asked = 0; asked < 12; asked += 1) if ((await takeForMailbox({ mailbox, client, site }, windows)).allowed) mailed += 1;
      return mailed;
    };

    it('gives a client a part, and a site a few more when strangers have used up what all have together', async () => {
      const { clock, throttle, other } = await scene(make);
      expect(await mailedTo(throttle, '203.0.113.1')).toBe(3);
      expect(await mailedTo(other, '198.51.100.1')).toBe(3);
      expect(await mailedTo(throttle, '192.0.2.1')).toBe(2);
      expect(await mailedTo(throttle, '2001:db8:1:1::/64', '2001:db8:1')).toBe(2);
      expect(await mailedTo(other, '2001:db8:1:2::/64', '2001:db8:1')).toBe(0);
      const asked = { mailbox, client: '192.0.2.1', site: '192.0.2.1' };
      expect(await throttle.takeForMailbox(asked, windows)).toEqual({ allowed: false, retryAfterSeconds: 60 });
      expect(await throttle.takeForMailbox({ ...asked, mailbox: 'codes of ben' }, windows)).toEqual({ allowed: true });
      await clock.advance(60 * SECOND_MS);
      expect(await mailedTo(throttle, '192.0.2.4')).toBe(3);
    });

    it('gives nothing more where no site is named', async () => {
      const { throttle } = await scene(make);
      for (const client of ['203.0.113.1', '198.51.100.1']) await mailedTo(throttle, client);
      expect(await throttle.takeForMailbox({ mailbox, client: '192.0.2.1' }, windows)).toEqual({ allowed: false, retryAfterSeconds: 60 });
    });

    it('gives all sites together no more than sixty of these in a day', async () => {
      const { clock, throttle } = await scene(make);
      const ofAll = async () => {
        let mailed = 0;
        for (let n = 0; n < 40; n += 1) mailed += await mailedTo(throttle, `10.0.0.${n}`);
        return mailed;
      };
      expect(await ofAll()).toBe(5 + 60);
      await clock.advance(60 * SECOND_MS);
      expect(await ofAll()).toBe(5);
      await clock.advance(24 * 60 * 60 * SECOND_MS);
      expect(await ofAll()).toBe(5 + 60);
    });
  });

  it('sweeps what is over, and stores no key', async () => {
    const { clock, throttle, stored } = await scene(make);
    await throttle.take('ada@example.test', three);
    await clock.advance(30 * SECOND_MS);
    await throttle.take('ben@example.test', three);
    expect(JSON.stringify(await stored.find({}))).not.toContain('example.test');
    await clock.advance(30 * SECOND_MS);
    await throttle.sweep();
    expect(await stored.count({})).toBe(1);
    await clock.advance(30 * SECOND_MS);
    await throttle.sweep();
    expect(await stored.count({})).toBe(0);
  });
};

describe('a throttle', () => {
  onEveryEngine(contract);
});
