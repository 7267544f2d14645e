import { MovedJoin, type NotetakerReport, NotetakerRuns } from '@bubbles/contracts/internal/meetings.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { z } from 'zod';
import { passingOn } from './identity-http.ts';

/** The operator's API of meetings as the control plane uses it. Unknown joins reject with `not_found`. */
export interface MeetingsAdmin {
  notetakers(): Promise<z.infer<typeof NotetakerRuns>['runs']>;
  report(joinId: string, report: NotetakerReport): Promise<z.infer<typeof MovedJoin>>;
}

const NOTETAKERS = '/internal/v1/admin/notetakers';
const MISSING = 'No notetaker was sent for such a join.';

/** Over the wire. */
export const meetingsAdmin = (client: InternalClient): MeetingsAdmin => ({
  notetakers: async () => (await passingOn(client.get(NOTETAKERS, { schema: NotetakerRuns }), MISSING)).runs,
  report: (joinId, report) =>
    passingOn(client.post(`${NOTETAKERS}/${encodeURIComponent(joinId)}`, { body: report, schema: MovedJoin }), MISSING),
});
