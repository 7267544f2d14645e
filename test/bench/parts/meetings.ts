import type { Outcome, Part } from '../harness/part.ts';
import { events } from './meetings-events.ts';
import { parsing } from './meetings-parsing.ts';
import { requests } from './meetings-requests.ts';
import { watch } from './meetings-watch.ts';

/** What the gateway of meetings does, beside what each costs at least. */
export const meetings: Part = async ({ quick }) => {
  const outcomes: Outcome[] = [];
  for (const measure of [parsing, requests, events, watch]) outcomes.push(await measure(quick));
  return {
    tables: outcomes.flatMap(({ tables }) => tables),
    verdicts: outcomes.flatMap(({ verdicts }) => verdicts),
    notes: outcomes.flatMap(({ notes }) => notes),
  };
};
