import type { Infra } from '@bubbles/host/service.ts';
import { measuredInfra } from '@bubbles/host/service-metrics.ts';
import type { Metrics } from '@bubbles/http/ops/metrics.ts';
import { type Collection, type Database, type Doc, OPERATIONS } from '@bubbles/store/collection.ts';
import { observation } from '../processes/switched-traces.ts';

type Operation = (first: unknown, second: unknown, third: unknown) => Promise<unknown>;

const switchedDatabase = (plain: Database, measured: Database): Database => ({
  ...plain,
  collection: <T extends Doc>(name: string) => {
    const [without, with_] = [plain.collection<T>(name), measured.collection<T>(name)];
    const methods = OPERATIONS.map((operation) => {
      // Each function has the type of the method that it calls.
      const [bare, timed] = [without[operation] as Operation, with_[operation] as Operation];
      const either: Operation = (first, second, third) => (observation.on ? timed : bare)(first, second, third);
      return [operation, either];
    });
    return { ...without, ...(Object.fromEntries(methods) as Pick<Collection<T>, (typeof OPERATIONS)[number]>) };
  },
});

/** Measured as in production while the process observes. */
export const switchedInfra = <A extends Pick<Infra, 'database' | 'bus' | 'clock'>>(infra: A, metrics: Metrics): A => {
  const { database, bus } = measuredInfra(infra, metrics);
  const publish: typeof bus.publish = (definition, event) => (observation.on ? bus : infra.bus).publish(definition, event);
  return { ...infra, database: switchedDatabase(infra.database, database), bus: { ...bus, publish } };
};
