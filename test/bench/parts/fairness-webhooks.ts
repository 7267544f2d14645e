import { startChild } from '../harness/children.ts';
import { lags, type Receiver } from '../harness/dispatcher.ts';
import type { Cell, Verdict } from '../harness/part.ts';
import { median } from '../harness/statistics.ts';

const HEALTHY = { owner: 'healthy', path: '', perSecond: 25, origins: 1 };
/** A bubble a second, with a delivery to each of its receivers: more than there are slots, and little beside what connecting costs. */
const HANGING = { owner: 'hanging', path: '/silent', perSecond: 1, origins: 110 };
const MAX_QUOTIENT = 3;
/** The pace is kept by slices of time: the last one may be missing. */
const LAST_SLICE = 1;
const NAME = `${HANGING.origins} receivers of one owner that hang`;

/** The lag of one owner's deliveries alone and beside another owner whose receivers all hang. */
export const besideHangingReceivers = async ({ rounds, seconds }: { readonly rounds: number; readonly seconds: number }) => {
  const receiver: Receiver = await startChild({ module: 'processes/webhook-receiver.ts', core: 'rest' });
  const rows: (readonly Cell[])[] = [];
  const quotients: number[] = [];
  let missing = 0;
  for (let round = 0; round < rounds; round += 1) {
    const alone = await lags(receiver, [HEALTHY], seconds);
    const beside = await lags(receiver, [HEALTHY, HANGING], seconds);
    const late = Math.max(0, HEALTHY.perSecond * seconds - LAST_SLICE - beside.count);
    quotients.push(beside.p95 / alone.p95);
    missing += late;
    rows.push([NAME, round, alone.p95, beside.p95, late]);
  }
  await receiver.stop();
  const verdicts: readonly Verdict[] = [
    { target: 'B', what: `${NAME}: p95 of another's lag / p95 alone`, figure: median(quotients), limit: MAX_QUOTIENT, wanted: 'most' },
    { target: 'B', what: `${NAME}: deliveries of another that did not come`, figure: missing, limit: 0, wanted: 'most' },
  ];
  const columns = ['flood', 'round', 'p95 ms alone', 'p95 ms beside', 'did not come'];
  return { table: { title: 'From ready to the first attempt of an owner beside floods', columns, rows }, verdicts };
};
