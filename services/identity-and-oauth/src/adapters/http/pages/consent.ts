import { SCOPES } from '@bubbles/contracts/access.ts';
import { type Markup, markup, pageOf } from '@bubbles/http/routes/markup.ts';
import type { Question } from '../../../use-cases/authorization.ts';

/** Where the browser goes with the answer, as a person can judge it: the name of an app proves nothing. */
const destinationIn = (redirectUri: string): Markup => {
  const { protocol, host } = new URL(redirectUri);
  if (protocol === 'https:') return markup`the site <strong>${host}</strong>`;
  if (protocol === 'http:') return markup`an app on this computer (<strong>${host}</strong>)`;
  return markup`the app on this device that opens <strong>${protocol}</strong> links`;
};

/** The id of a client that is described by a document is the address of that document, on a site that speaks for it. */
const publisherOf = (clientId: string): Markup | null =>
  URL.canParse(clientId) ? markup` It is published by <strong>${new URL(clientId).host}</strong>.` : null;

const choice = (scope: string, text: string): Markup =>
  markup`<label><input type="checkbox" name="scope" value="${scope}" checked> ${text}</label>`;

const textsOf = (scopes: readonly string[]): readonly (readonly [scope: string, text: string])[] =>
  Object.entries(SCOPES).filter(([scope]) => scopes.includes(scope));

/** `problem` is what was wrong with the form that was sent. */
export const consentPage = ({ request, client, account, requestId, token }: Question, problem: string | null = null): Markup => {
  const path = `/oauth/interaction/${requestId}`;
  const name = markup`<bdi>${client.name}</bdi>`;
  return pageOf({
    title: `Connect ${client.name}`,
    main: markup`<h1>Connect ${name}?</h1>
${problem !== null && markup`<p class="bad" role="alert">${problem}</p>`}
<p>An app that calls itself “${name}” wants to use your account. Nobody has verified that name.${publisherOf(client.id)} Your answer takes you to ${destinationIn(request.redirectUri)}.</p>
<p>You are signed in as <strong><bdi>${account.email ?? account.name ?? account.id}</bdi></strong>. <a href="/app/sign-in?return_to=${encodeURIComponent(path)}">Use another account</a></p>
<form method="post" action="${path}">
<input type="hidden" name="token" value="${token}">
<fieldset><legend>What it may do</legend>
${textsOf(request.scopes).map(([scope, text]) => choice(scope, text))}
</fieldset>
<p class="soft">Untick what you do not want. You can disconnect the app at any time.</p>
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="plain">Deny</button>
</form>`,
  });
};
