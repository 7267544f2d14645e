import { hash } from 'node:crypto';
import { CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { form, html, redirect } from '@bubbles/http/routes/content.ts';
import type { Guard } from '@bubbles/http/routes/guard.ts';
import { reply, seeOther } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { type Ids, seededIds } from '@bubbles/kernel/ids.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Account } from '../../domain/account.ts';
import { formToken, isFormToken } from '../../domain/form-token.ts';
import { hashToken } from '../../domain/token.ts';
import { checkFormToken, ownForm } from './own-form.ts';
import { apiKeysPage, createdKeyPage, madeBeforePage, type NewKeyForm, revokeKeyPage } from './pages/api-keys.ts';
import { APP_PAGE, type SignedIn } from './signed-in.ts';

const PATH = '/app/api-keys';
const ById = z.object({ id: CallerId });
const NewKey = z.object({ name: z.string().default(''), form: z.string().default(''), token: z.string().default('') });
const Confirmed = z.object({ token: z.string().default('') });

const NOTICES: ReadonlyMap<string, string> = new Map([['revoked', 'The key was revoked.']]);

/** `form` names one form: what it makes is made once, however often it is sent. */
const aboutNewKey = (form: string): readonly string[] => ['create API key', form];
const aboutRevoking = (keyId: string): readonly string[] => ['revoke API key', keyId];

const freshForm = (sessionToken: string, ids: Ids): NewKeyForm => {
  const form = ids.uuid();
  return { fields: { form, token: formToken(sessionToken, aboutNewKey(form)) }, name: '', problem: null };
};

/** The id of a key follows from its form, its secret does not. */
const idsOfForm = (form: string, owner: Account, ids: Ids): Ids => ({
  uuid: () => seededIds(hash('sha256', JSON.stringify([owner.id, form]), 'buffer')).uuid(),
  bytes: ids.bytes,
});

const showKeys = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: PATH,
      operationId: 'showApiKeys',
      summary: 'The page of the API keys',
      guard: signedIn,
      query: z.object({ done: z.string().optional() }),
      answers: { 200: html },
    },
    async ({ account, sessionToken, query, ids }) =>
      apiKeysPage(await app.listKeys(account), freshForm(sessionToken, ids), NOTICES.get(query.done ?? '') ?? null),
  );

const OTHER_SESSION = 'This form is of another session. Please look at it once more, and send it again.';

/** The status under which the form is shown again, for what the person at the form can mend or has to know. */
const FORM_STATUSES = { forbidden: 403, limit_reached: 409 } as const;
const formStatusOf = (error: unknown): 403 | 409 | null =>
  isDomainError(error) && (error.kind === 'forbidden' || error.kind === 'limit_reached') ? FORM_STATUSES[error.kind] : null;

const createKey = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: PATH,
      operationId: 'sendApiKeyForm',
      summary: 'Make an API key and show it once',
      guard: ownForm(signedIn),
      body: form(NewKey),
      answers: { 200: html, 400: html, 403: html, 409: html },
      secret: true,
    },
    async ({ account, sessionToken, body, ids }) => {
      const again = async (problem: string) =>
        apiKeysPage(await app.listKeys(account), { ...freshForm(sessionToken, ids), name: body.name, problem });
      if (!isFormToken(body.token, sessionToken, aboutNewKey(body.form))) return reply(403, await again(OTHER_SESSION));
      const named = CreateApiKeyRequest.safeParse({ name: body.name });
      if (!named.success) return reply(400, await again(`The name ${named.error.issues[0]?.message ?? ''}.`));
      try {
        const made = await app.createKey({ owner: account, name: named.data.name, ids: idsOfForm(body.form, account, ids) });
        // A key that the form has made before has another token than this one.
        return made.key.hash === hashToken(made.token) ? reply(200, createdKeyPage(made)) : reply(409, madeBeforePage(made.key));
      } catch (error) {
        const status = formStatusOf(error);
        if (status === null || !isDomainError(error)) throw error;
        return reply(status, await again(error.message));
      }
    },
  );

const keyOf = (account: Account, keyId: string) => {
  const key = account.keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new DomainError('not_found', 'No such API key.');
  return key;
};

const askToRevoke = (signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: `${PATH}/{id}/revoke`,
      operationId: 'askToRevokeApiKey',
      summary: 'Ask whether to revoke an API key',
      guard: signedIn,
      params: ById,
      answers: { 200: html },
    },
    ({ account, sessionToken, params }) =>
      Promise.resolve(revokeKeyPage(keyOf(account, params.id), formToken(sessionToken, aboutRevoking(params.id)))),
  );

const revokeKey = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: `${PATH}/{id}/revoke`,
      operationId: 'sendRevokeApiKeyForm',
      summary: 'Revoke an API key',
      guard: ownForm(signedIn),
      params: ById,
      body: form(Confirmed),
      answers: { 303: redirect },
    },
    async ({ account, sessionToken, params, body }) => {
      checkFormToken(body.token, sessionToken, aboutRevoking(params.id));
      await app.revokeKey({ owner: account, keyId: params.id });
      return seeOther(`${PATH}?done=revoked`);
    },
  );

export const apiKeyPages = (app: App, signedIn: Guard<SignedIn>) => [
  showKeys(app, signedIn),
  createKey(app, signedIn),
  askToRevoke(signedIn),
  revokeKey(app, signedIn),
];
