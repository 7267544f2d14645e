import type { Bus } from '@bubbles/shared/bus/bus.ts';
import type { Clock } from '@bubbles/shared/clock.ts';
import { systemIds } from '@bubbles/shared/ids.ts';
import type { Infra } from '@bubbles/shared/service.ts';
import { openEmbedded } from '@bubbles/shared/store/embedded/open-embedded.ts';
import { SILENT_LOG } from '@bubbles/shared/testing/http.ts';

/** Everything that a composition gives a service, in memory and its own. */
export const memoryInfra = (name: string, { clock, bus }: { readonly clock: Clock; readonly bus: Bus }): Infra => ({
  clock,
  bus,
  ids: systemIds(),
  log: SILENT_LOG,
  database: openEmbedded({ path: ':memory:', log: SILENT_LOG }).database(name),
});
