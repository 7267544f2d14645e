import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { form, html, redirect } from '@bubbles/http/routes/content.ts';
import type { Guard } from '@bubbles/http/routes/guard.ts';
import { seeOther } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { formToken } from '../../domain/form-token.ts';
import type { PageSession } from '../../ports.ts';
import { checkFormToken, ownForm } from './own-form.ts';
import { webhookPage, webhooksPage } from './pages/webhooks.ts';
import { APP_PAGE, backToPage, type SignedIn } from './signed-in.ts';

const PATH = '/app/webhooks';
const ById = z.object({ id: CallerId });
const ByDelivery = ById.extend({ delivery_id: CallerId });
const Sent = z.object({ form: z.string().default(''), token: z.string().default('') });
/** The dispatcher refuses in its own words. */
const REFUSALS = ['forbidden', 'not_found', 'limit_reached', 'rate_limited'] as const;
const NOTICES: ReadonlyMap<string, string> = new Map([
  ['tested', 'A test was queued.'],
  ['queued', 'The delivery was queued again.'],
]);

/** `form` names one form: what it does is done once, however often it is sent. */
const aboutTest = (webhookId: string, form: string): readonly string[] => ['test webhook', webhookId, form];
const aboutRedelivery = (webhookId: string, id: string, form: string): readonly string[] => ['redeliver', webhookId, id, form];

/** The page that has all forms of a webhook. */
const pageOfWebhook = (target: string): string => target.split('/', PATH.split('/').length + 1).join('/');

/** Without the token of the session. */
const sessionOf = ({ account, accountVersion, sessionId }: SignedIn): PageSession => ({ account, accountVersion, sessionId });

const showWebhooks = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: PATH,
      operationId: 'showWebhooks',
      summary: 'The page of the webhooks',
      guard: signedIn,
      query: z.object({ after: z.string().optional() }),
      answers: { 200: html },
      errors: REFUSALS,
    },
    async ({ query, ...input }) => webhooksPage(await app.listWebhooks({ session: sessionOf(input), after: query.after ?? null })),
  );

const showWebhook = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: `${PATH}/{id}`,
      operationId: 'showWebhook',
      summary: 'The page of a webhook with its deliveries',
      guard: signedIn,
      params: ById,
      query: z.object({ done: z.string().optional(), after: z.string().optional() }),
      answers: { 200: html },
      errors: REFUSALS,
    },
    async ({ params: { id }, query, ids, ...input }) => {
      const { sessionToken } = input;
      const shown = await app.readWebhook({ session: sessionOf(input), id, after: query.after ?? null });
      const form = ids.uuid();
      const forms = {
        form,
        tokenForTest: formToken(sessionToken, aboutTest(id, form)),
        tokenFor: (deliveryId: string) => formToken(sessionToken, aboutRedelivery(id, deliveryId, form)),
      };
      return webhookPage(shown, forms, NOTICES.get(query.done ?? '') ?? null);
    },
  );

const sendTest = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: `${PATH}/{id}/test`,
      operationId: 'sendWebhookTestForm',
      summary: 'Send a test to the receiver of a webhook',
      guard: ownForm(backToPage(signedIn, pageOfWebhook)),
      params: ById,
      body: form(Sent),
      answers: { 303: redirect },
      errors: REFUSALS,
    },
    async ({ params: { id }, body, ...input }) => {
      checkFormToken(body.token, input.sessionToken, aboutTest(id, body.form));
      await app.testWebhook({ session: sessionOf(input), webhookId: id, form: body.form });
      return seeOther(`${PATH}/${id}?done=tested`);
    },
  );

const sendAgain = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: `${PATH}/{id}/deliveries/{delivery_id}/redeliver`,
      operationId: 'sendRedeliverForm',
      summary: 'Send a delivery of a webhook again',
      guard: ownForm(backToPage(signedIn, pageOfWebhook)),
      params: ByDelivery,
      body: form(Sent),
      answers: { 303: redirect },
      errors: REFUSALS,
    },
    async ({ params: { id: webhookId, delivery_id: id }, body, ...input }) => {
      checkFormToken(body.token, input.sessionToken, aboutRedelivery(webhookId, id, body.form));
      await app.redeliver({ session: sessionOf(input), webhookId, id, form: body.form });
      return seeOther(`${PATH}/${webhookId}?done=queued`);
    },
  );

export const webhookPages = (app: App, signedIn: Guard<SignedIn>) => [
  showWebhooks(app, signedIn),
  showWebhook(app, signedIn),
  sendTest(app, signedIn),
  sendAgain(app, signedIn),
];
