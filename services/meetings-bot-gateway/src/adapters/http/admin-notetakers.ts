import { forOperators } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { MovedJoin, NotetakerReport, NotetakerRuns } from '@bubbles/contracts/internal/meetings.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { presentMoved, presentRun, reportOf } from './present.ts';

const ByJoin = z.object({ join_id: CallerId });
/** A transcript of a long meeting must fit. */
const REPORT_LIMIT_BYTES = 16 * 1024 * 1024;

const listRuns = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/notetakers',
      operationId: 'adminListNotetakers',
      summary: 'List what the simulated provider was asked to do, oldest first',
      answers: { 200: json(NotetakerRuns) },
      errors: ['not_found'],
      secret: true,
    },
    async () => ({ runs: (await app.listSimulatedRuns()).map(presentRun) }),
  );

const reportRun = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/notetakers/{join_id}',
      operationId: 'adminReportNotetaker',
      audit: { body: ['status'] },
      summary: 'Let the simulated provider report a status',
      params: ByJoin,
      body: NotetakerReport,
      bodyLimitBytes: REPORT_LIMIT_BYTES,
      answers: { 200: json(MovedJoin) },
      errors: ['not_found'],
    },
    async ({ params, body }) => presentMoved(await app.reportSimulatedRun(params.join_id, reportOf(body))),
  );

export const adminNotetakerRoutes = (app: App) => [listRuns(app), reportRun(app)];
