import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { GATEWAY, OPERATOR, SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';
import { ACTS } from './operator-acts.ts';

type Pair = readonly [consumer: string, provider: string];

const table: ServiceTable = SERVICES;
const present = new Set([GATEWAY, ...PRODUCT.definitions.map(({ name }) => name)]);

/** Who calls a service and who hears its events, as the definitions say; what operators ask, their commands say. */
const relying: readonly Pair[] = [
  ...Object.entries(table).flatMap(([provider, { callers }]) =>
    callers.filter((caller) => present.has(caller)).map((caller): Pair => [caller, provider]),
  ),
  ...Object.keys(ACTS).map((provider): Pair => [OPERATOR, provider]),
  ...EVENTS.flatMap(({ publisher, consumers }) => consumers.map((consumer): Pair => [consumer, publisher])),
];

/** Which service relies on which. A pact that is not there, or one too many, fails the run. */
export const PAIRS: readonly Pair[] = [...new Map(relying.map((pair) => [pair.join(' '), pair])).values()];

export const consumersOf = (provider: string): readonly string[] => PAIRS.filter(([, of]) => of === provider).map(([consumer]) => consumer);
