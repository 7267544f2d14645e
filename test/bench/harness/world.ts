import type { SeededAccount } from '../processes/identity.ts';
import type { SeededBubbles, SeedPlan } from '../processes/seed-bubbles.ts';
import type { ServiceReady } from '../processes/serve-service.ts';
import { type Child, type Core, SWITCHED, startChild } from './children.ts';
import { type Keys, makeKeys } from './credentials.ts';

export const KEYS_EACH = 10;

export interface WorldPlan {
  readonly accounts: number;
  readonly seed: SeedPlan;
  readonly shedding?: boolean;
  readonly gatewayCore?: Core;
  /** With traces, log lines and figures of store and broker, as in production, until they are switched off. Else with traces alone. */
  readonly switched?: boolean;
}

/** The read path as processes: gateway, identity, bubbles-query. */
export interface World {
  readonly keys: Keys;
  readonly identity: Child<ServiceReady<readonly SeededAccount[]>>;
  readonly bubbles: Child<ServiceReady<SeededBubbles>>;
  readonly gateway: Child<{ readonly url: string }>;
  /** One after the other of every account, so that neighbours are different people. */
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

interface IdentityPlan {
  readonly accounts: number;
  readonly core?: Core;
  readonly switched?: boolean;
  /** Of each account, and access tokens of each grant; none when absent. */
  readonly grants?: { readonly grantsEach: number; readonly accessTokensEach: number };
}

const argumentsFor = (switched: boolean): readonly string[] => (switched ? SWITCHED : []);

export const startIdentity = (
  keys: Keys,
  { accounts, grants, core = 'any', switched = false }: IdentityPlan,
): Promise<Child<ServiceReady<readonly SeededAccount[]>>> =>
  startChild({
    module: 'processes/identity.ts',
    settings: { callers: keys.callers, accounts, keysEach: KEYS_EACH, switched, ...grants },
    core,
    nodeArguments: argumentsFor(switched),
  });

export const tokensOf = (accounts: readonly SeededAccount[]): readonly string[] =>
  Array.from({ length: KEYS_EACH }, (_, k) => accounts.map(({ tokens }) => tokens[k] ?? '')).flat();

export const startBubbles = (
  keys: Keys,
  {
    seed,
    identityUrl,
    switched = false,
    ...rest
  }: { readonly seed: SeedPlan; readonly identityUrl: string; readonly shedding?: boolean; readonly switched?: boolean },
): Promise<Child<ServiceReady<SeededBubbles>>> =>
  startChild({
    module: 'processes/bubbles-query.ts',
    settings: { ...rest, switched, callers: keys.callers, seed, identityUrl, serviceKey: keys.own['bubbles-query'] },
    nodeArguments: argumentsFor(switched),
  });

export const startWorld = async ({
  accounts,
  seed,
  shedding = false,
  gatewayCore = 'any',
  switched = false,
}: WorldPlan): Promise<World> => {
  const keys = makeKeys();
  const identity = await startIdentity(keys, { accounts, switched });
  const identityUrl = identity.ready.url;
  const bubbles = await startBubbles(keys, { seed, identityUrl, shedding, switched });
  const gateway = await startChild<{ readonly url: string }>({
    module: 'processes/gateway.ts',
    core: gatewayCore,
    nodeArguments: argumentsFor(switched),
    settings: {
      upstreams: `identity-and-oauth=${identityUrl};bubbles-query=${bubbles.ready.url}`,
      serviceKey: keys.own.gateway,
      shedding,
      switched,
    },
  });
  return {
    keys,
    identity,
    bubbles,
    gateway,
    tokens: tokensOf(identity.ready.seeded),
    stop: async () => {
      await Promise.all([gateway, bubbles, identity].map((child) => child.stop()));
    },
  };
};
