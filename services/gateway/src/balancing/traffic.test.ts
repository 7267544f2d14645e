import { describe, expect, it } from '@jest/globals';
import { type Demand, Traffic } from './traffic.ts';

const SERVICE = 'bubbles-query';

const trafficOf = ({ limit = 2048, places = 20, sheds = true }) => {
  const clock = { nowMs: 0 };
  const isKnown = (caller: string) => caller.startsWith('known ');
  return { clock, traffic: new Traffic({ limit, placesOf: () => places, sheds, nowMs: () => clock.nowMs, isKnown }) };
};

interface Arrival {
  readonly caller: string;
  readonly at: number;
}

interface Service {
  readonly sheds?: boolean;
  readonly stopped?: (at: number) => boolean;
}

const NEVER = () => false;

/** Some milliseconds of a service that answers one request a millisecond, in order; `arriving` are the callers of each millisecond. */
const simulate = (ms: number, arriving: (at: number) => readonly string[], { sheds = true, stopped = NEVER }: Service = {}) => {
  const { clock, traffic } = trafficOf({ sheds });
  const waiting: (Arrival & { readonly demand: Demand })[] = [];
  const refused: Arrival[] = [];
  const answered: (Arrival & { readonly took: number })[] = [];
  for (let at = 0; at < ms; at += 1) {
    clock.nowMs = at;
    for (const caller of arriving(at)) {
      const { mayEnter, leave } = traffic.enter({ caller, service: SERVICE, isLate: false });
      leave();
      const demand = traffic.demand(caller, SERVICE);
      if (mayEnter) {
        demand.begin();
        waiting.push({ caller, at, demand });
      } else refused.push({ caller, at });
    }
    const next = stopped(at) ? undefined : waiting.shift();
    if (next === undefined) continue;
    next.demand.end(true);
    answered.push({ ...next, took: at - next.at });
  }
  const slowest = answered.reduce((most, { took }) => Math.max(most, took), 0);
  return { refused, answered, slowest };
};

const CROWD = Array.from({ length: 300 }, (_, n) => `caller ${n}`);
const crowdAt = (at: number, perMs: number) => Array.from({ length: perMs }, (_, n) => CROWD[(at * perMs + n) % CROWD.length] ?? '');

const DURING_800_MS = Array.from({ length: 21 }, (_, n) => n * 40);

describe('an overloaded service', () => {
  it('[ERR-05] twice of what it can do is asked: it goes on doing all it can, and answers soon', () => {
    const { answered, refused, slowest } = simulate(5000, (at) => crowdAt(at, 2));
    expect(answered.length).toBeGreaterThan(4900);
    expect(refused.length).toBeGreaterThan(4500);
    expect(slowest).toBeLessThan(700);
    const later = answered.filter(({ at }) => at > 1200).map(({ took }) => took);
    expect(later.filter((took) => took > 200)).toEqual([]);
  });

  it('[ERR-05] without shedding nobody is refused', () => {
    const { refused, slowest } = simulate(1000, (at) => crowdAt(at, 2), { sheds: false });
    expect(refused).toEqual([]);
    expect(slowest).toBeGreaterThan(400);
  });

  it('[GEN-14] a caller who asks for little comes in beside those who flood', () => {
    const { refused } = simulate(5000, (at) => [...(at % 100 === 0 ? ['modest'] : []), ...crowdAt(at, 3).map((_, n) => `flood ${n}`)]);
    expect(refused.length).toBeGreaterThan(5000);
    expect(refused.filter(({ caller }) => caller === 'modest')).toEqual([]);
  });

  it('[GEN-14] callers with a credential come in beside a flood from as many networks as requests', () => {
    const { answered, refused } = simulate(5000, (at) => [
      ...Array.from({ length: 3 }, (_, n) => `network ${at} ${n}`),
      ...(at % 5 === 0 ? [`known ${at % 500}`] : []),
    ]);
    expect(answered.length).toBeGreaterThan(4900);
    // By then the queue is gone that grew until the overload was noticed.
    const isLater = ({ at }: Arrival) => at > 2000;
    expect(refused.filter(isLater).length).toBeGreaterThan(5000);
    expect(refused.filter(isLater).filter(({ caller }) => caller.startsWith('known'))).toEqual([]);
    expect(answered.filter(isLater).filter(({ took }) => took > 200)).toEqual([]);
  });

  it('[ERR-05] a burst waits for its turn', () => {
    const { answered, refused } = simulate(1000, (at) => (at === 500 ? CROWD : []));
    expect(refused).toEqual([]);
    expect(answered.length).toBe(CROWD.length);
  });

  it('[ERR-05] as much as it can do is asked: nobody is refused', () => {
    expect(simulate(5000, (at) => crowdAt(at, 1)).refused).toEqual([]);
  });

  it('[ERR-05] one that stops for a moment is not taken for overloaded, and those who wait are answered', () => {
    const every3rd = (at: number) => (at % 3 === 0 ? crowdAt(at / 3, 1) : []);
    const { refused } = simulate(4000, every3rd, { stopped: (at) => at > 1000 && at < 1500 });
    expect(refused).toEqual([]);
  });

  it('[GEN-14] the requests of another service are not refused for it', () => {
    const { clock, traffic } = trafficOf({});
    const ask = (): Demand => {
      const demand = traffic.demand('a', SERVICE);
      demand.begin();
      return demand;
    };
    const mayEnter = (service: string) => traffic.enter({ caller: 'a', service, isLate: false }).mayEnter;
    const entered = DURING_800_MS.map((at) => {
      clock.nowMs = at;
      for (let n = 0; n < 100; n += 1) ask();
      ask().end(true);
      return mayEnter(SERVICE);
    });
    expect([entered[5], entered.at(-1), mayEnter('signup')]).toEqual([true, false, true]);
  });

  it('[GEN-14] a request that waits for its client is none that the service works for', () => {
    const { clock, traffic } = trafficOf({});
    const demands = CROWD.map((caller) => traffic.demand(caller, SERVICE));
    for (const demand of demands) {
      demand.begin();
      demand.end(false);
      demand.end(true);
    }
    const entered = DURING_800_MS.map((at) => {
      clock.nowMs = at;
      const served = traffic.demand('a', SERVICE);
      served.begin();
      served.end(true);
      return traffic.enter({ caller: 'a', service: SERVICE, isLate: false }).mayEnter;
    });
    expect(entered).not.toContain(false);
  });
});

describe('as many callers as there may be requests in flight', () => {
  it('[GEN-14] those with a credential that was good come in beside the others, up to half of the limit', () => {
    const { traffic } = trafficOf({ limit: 100 });
    const enter = (caller: string) => traffic.enter({ caller, service: null, isLate: false });
    const networks = Array.from({ length: 100 }, (_, n) => enter(`network ${n}`));
    expect(networks.map(({ mayEnter }) => mayEnter)).not.toContain(false);
    const another = enter('another network');
    another.leave();
    const callers = Array.from({ length: 50 }, (_, n) => enter(`known ${n}`));
    expect([another.mayEnter, ...callers.map(({ mayEnter }) => mayEnter)]).toEqual([false, ...callers.map(() => true)]);
    expect([enter('known 0').mayEnter, enter('known more').mayEnter]).toEqual([false, false]);
    for (const { leave } of callers) leave();
    expect(enter('known more').mayEnter).toBe(true);
  });
});

describe('a late event loop', () => {
  it('[GEN-14] refuses those who ask for most', () => {
    const { traffic } = trafficOf({});
    const enter = (caller: string, isLate: boolean) => traffic.enter({ caller, service: null, isLate }).mayEnter;
    for (let n = 0; n < 10; n += 1) enter('flood', false);
    expect([enter('flood', true), enter('modest', true), enter('flood', false)]).toEqual([false, true, true]);
  });

  it('[ERR-05] refuses everybody where all ask for as much', () => {
    const { traffic } = trafficOf({});
    expect(CROWD.map((caller) => traffic.enter({ caller, service: null, isLate: true }).mayEnter)).not.toContain(true);
  });
});
