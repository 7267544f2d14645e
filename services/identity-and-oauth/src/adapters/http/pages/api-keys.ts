import { type Markup, markup } from '@bubbles/http/routes/markup.ts';
import type { ActiveKey } from '../../../domain/account.ts';
import type { IssuedKey } from '../../../domain/token.ts';
import type { ListedKey } from '../../../use-cases/keys.ts';
import { appPage, hidden, timeOf } from './app-page.ts';

/** The form for a new key as it is shown: empty, or again with what was typed and why it was not taken. */
export interface NewKeyForm {
  readonly fields: Readonly<Record<'form' | 'token', string>>;
  readonly name: string;
  readonly problem: string | null;
}

const at = '/app/api-keys';

const newKeyForm = ({ fields, name, problem }: NewKeyForm): Markup => markup`<h2 id="new">Create a key</h2>
<form method="post" action="${at}" aria-labelledby="new">
${hidden(fields)}
<label for="name">Name</label>
<input type="text" id="name" name="name" value="${name}" required autocomplete="off" aria-describedby="${problem !== null && 'name-problem '}name-hint"${problem !== null && markup` aria-invalid="true" autofocus`}>
${problem !== null && markup`<p class="bad" id="name-problem" role="alert">${problem}</p>`}
<p class="soft" id="name-hint">Say what the key is for. The key is shown once, right after it is made.</p>
<button>Create key</button>
</form>`;

const row = ({ id, name, preview, createdAt, lastUsedAt }: ListedKey): Markup => markup`<tr>
<th scope="row"><bdi>${name}</bdi></th><td><code>${preview}</code></td><td>${timeOf(createdAt)}</td><td>${lastUsedAt === null ? 'Never' : timeOf(lastUsedAt)}</td>
<td><a href="${at}/${id}/revoke" aria-label="Revoke ${name}">Revoke</a></td></tr>`;

const table = (keys: readonly ListedKey[]): Markup =>
  keys.length === 0
    ? markup`<p>There are none.</p>`
    : markup`<table aria-labelledby="active">
<thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">Created</th><th scope="col">Last used</th><td></td></tr></thead>
<tbody>${keys.map(row)}</tbody></table>`;

/** `notice` says what was just done. */
export const apiKeysPage = (keys: readonly ListedKey[], form: NewKeyForm, notice: string | null = null): Markup =>
  appPage({
    at,
    title: 'API keys',
    main: markup`${notice !== null && markup`<p role="status">${notice}</p>`}
<p>A key is a personal access token: whoever has it acts as you in the API. An account has at most 10.</p>
${newKeyForm(form)}
<h2 id="active">Active keys</h2>
${table(keys)}`,
  });

export const createdKeyPage = ({ key, token }: IssuedKey): Markup =>
  appPage({
    at,
    title: 'Your new key',
    main: markup`<p>Copy it now. It is not shown again, and nobody can read it later.</p>
<label for="key">Key “<bdi>${key.name}</bdi>”</label>
<input type="text" id="key" value="${token}" readonly autocomplete="off" spellcheck="false" aria-describedby="key-hint">
<p class="soft" id="key-hint">Select it with the Tab key or with three clicks, then copy it.</p>
<p><a href="${at}">I have copied it: go back to the keys</a></p>`,
  });

/** Answers a form that was sent before: a page that is loaded again shows no secret and makes no second key. */
export const madeBeforePage = ({ name }: ActiveKey): Markup =>
  appPage({
    at,
    title: 'This key was made before',
    main: markup`<p>The key “<bdi>${name}</bdi>” was made when this form was sent for the first time, and is not shown again. If you have not copied it, revoke it and create another one.</p>
<p><a href="${at}">Go to the keys</a></p>`,
  });

export const revokeKeyPage = ({ id, name, preview }: ActiveKey, token: string): Markup =>
  appPage({
    at,
    title: 'Revoke a key',
    main: markup`<p>Whatever uses the key “<bdi>${name}</bdi>” (<code>${preview}</code>) is refused from its next request on. This cannot be undone.</p>
<form method="post" action="${at}/${id}/revoke">${hidden({ token })}<button>Revoke key</button></form>
<p><a href="${at}">Keep it</a></p>`,
  });
