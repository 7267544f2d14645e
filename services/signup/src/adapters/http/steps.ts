import { anyone } from '@bubbles/auth/guards.ts';
import { SIGNUP_STEPS } from '@bubbles/contracts/api/signup.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { type HandlerInput, type RouteSpec, route } from '@bubbles/http/routes/route.ts';
import { networkOf } from '@bubbles/http/wire/connections.ts';
import type { ZodType } from 'zod';
import type { App } from '../../app.ts';
import { TEXTS } from '../../domain/texts.ts';
import { presentConnector } from './connector.ts';
import { presentCalendarStep, presentText, presentWorkspaceStep, requestOf } from './present.ts';

interface StepSpec<F, R> extends Pick<RouteSpec<object, unknown>, 'errors' | 'operationId' | 'summary'> {
  readonly path: string;
  readonly request: ZodType<F>;
  readonly response: ZodType<R>;
}

type StepInput = Pick<HandlerInput<unknown, unknown, unknown, unknown>, 'clientAddress'>;

const ALIAS =
  'For agents that can only fetch URLs: the same as the POST, with the fields of its body in the query. It acts as the POST does, so HEAD runs nothing and is answered with 405.';

/** One step of signup: its POST, and the GET that is told the same in its query. */
const step = <F, R>({ path, request, response, ...spec }: StepSpec<F, R>, handle: (fields: F, input: StepInput) => Promise<R>) => {
  const common = { ...spec, tag: 'Signup', guard: anyone, path: `/v1/signup/${path}`, answers: { 200: json(response) }, secret: true };
  // The name of a component is that of the body; in the query its fields stand alone.
  const query = request.clone(request.def);
  return [
    route({ ...common, method: 'POST', body: request }, ({ body, ...input }) => handle(body, input)),
    route(
      { ...common, method: 'GET', operationId: `${spec.operationId}ByGet`, description: ALIAS, query, unsafe: true },
      ({ query, ...input }) => handle(query, input),
    ),
  ];
};

const OF_SESSION = ['unauthorized', 'out_of_order'] as const;

const startStep = (app: App) =>
  step(
    {
      ...SIGNUP_STEPS.start,
      path: 'start',
      operationId: 'startSignup',
      summary: 'Mail a code to an e-mail address',
      errors: ['rate_limited'],
    },
    async ({ email }, { clientAddress }) => {
      const session = await app.startSignup({ email, client: networkOf(clientAddress()) });
      return { next_step: 'verify', ...presentText(TEXTS.started, session) };
    },
  );

const verifyStep = (app: App) =>
  step(
    {
      ...SIGNUP_STEPS.verify,
      path: 'verify',
      operationId: 'verifySignup',
      summary: 'Prove the address with the mailed code',
      errors: ['unauthorized'],
    },
    async ({ signup_session: session, code }) => {
      await app.verifySignup(session, code);
      return { next_step: 'workspaces', ...presentText(TEXTS.verified, session) };
    },
  );

const workspacesStep = (app: App) =>
  step(
    {
      ...SIGNUP_STEPS.workspaces,
      path: 'workspaces',
      operationId: 'listSignupWorkspaces',
      summary: 'List the workspaces that the address may join',
      errors: OF_SESSION,
    },
    async ({ signup_session: session }) => {
      const workspaces = await app.listWorkspaces(session);
      return { next_step: 'workspace', ...presentText(TEXTS.listed(workspaces), session), workspaces: [...workspaces] };
    },
  );

const workspaceStep = (app: App) =>
  step(
    {
      ...SIGNUP_STEPS.workspace,
      path: 'workspace',
      operationId: 'takeSignupWorkspace',
      summary: 'Join a workspace, create one, or open the created one to a domain',
      errors: [...OF_SESSION, 'forbidden'],
    },
    async (request) =>
      presentWorkspaceStep(await app.takeWorkspaceStep(request.signup_session, requestOf(request)), request.signup_session),
  );

const calendarStep = (app: App, mcp: ReturnType<typeof presentConnector>) =>
  step(
    {
      ...SIGNUP_STEPS.calendar,
      path: 'calendar',
      operationId: 'finishSignup',
      summary: 'Get the links that connect a calendar, and end the signup',
      errors: OF_SESSION,
    },
    async ({ signup_session: session }) => presentCalendarStep(await app.finishSignup(session), { ...mcp, tools: [...mcp.tools] }, session),
  );

export const stepRoutes = (app: App, connector: Parameters<typeof presentConnector>[0]) => [
  ...startStep(app),
  ...verifyStep(app),
  ...workspacesStep(app),
  ...workspaceStep(app),
  ...calendarStep(app, presentConnector(connector)),
];
