import type { Bus } from '@bubbles/bus/bus.ts';
import type { Infra } from '@bubbles/host/service.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';

/** Everything that a composition gives a service, in memory and its own. */
export const memoryInfra = (name: string, { clock, bus }: { readonly clock: Clock; readonly bus: Bus }): Infra => ({
  clock,
  bus,
  ids: systemIds(),
  log: SILENT_LOG,
  database: openEmbedded({ path: ':memory:', log: SILENT_LOG }).database(name),
});
