import { SCOPES } from '@bubbles/contracts/access.ts';
import { type Markup, markup } from '@bubbles/http/routes/markup.ts';
import type { ConnectedApp } from '../../../domain/connected-app.ts';
import type { ConnectedAppsPage } from '../../../use-cases/connected-apps.ts';
import { appPage, hidden, timeOf } from './app-page.ts';

const at = '/app/connected-apps';

const SCOPE_TEXTS: ReadonlyMap<string, string> = new Map(Object.entries(SCOPES));

const scopesOf = ({ scopes }: ConnectedApp): Markup =>
  markup`<ul>${scopes.map((scope) => markup`<li>${SCOPE_TEXTS.get(scope) ?? scope}</li>`)}</ul>`;

const query = (name: string, value: string): string => `?${name}=${encodeURIComponent(value)}`;

const row = (app: ConnectedApp): Markup => markup`<tr>
<th scope="row"><bdi>${app.name}</bdi></th><td>${scopesOf(app)}</td><td>${timeOf(app.grantedAt)}</td><td>${app.lastUsedAt === null ? 'Not yet' : timeOf(app.lastUsedAt)}</td>
<td><a href="${at}/disconnect${query('client', app.clientId)}" aria-label="Disconnect ${app.name}">Disconnect</a></td></tr>`;

const table = (apps: readonly ConnectedApp[]): Markup =>
  apps.length === 0
    ? markup`<p>There are none.</p>`
    : markup`<table>
<thead><tr><th scope="col">App</th><th scope="col">It may</th><th scope="col">Allowed</th><th scope="col">Last used</th><td></td></tr></thead>
<tbody>${apps.map(row)}</tbody></table>`;

/** `notice` says what was just done. */
export const connectedAppsPage = ({ apps, next }: ConnectedAppsPage, notice: string | null): Markup =>
  appPage({
    at,
    title: 'Connected apps',
    main: markup`${notice !== null && markup`<p role="status">${notice}</p>`}
<p>These apps may act for you. Each name is the one that the app gives itself: nobody has verified it.</p>
${table(apps)}
${next !== null && markup`<p><a href="${at}${query('after', next)}">More apps</a></p>`}`,
  });

export const disconnectPage = ({ clientId, name }: ConnectedApp, token: string): Markup =>
  appPage({
    at,
    title: 'Disconnect an app',
    main: markup`<p>Everything that you have allowed “<bdi>${name}</bdi>” ends: it is refused from its next request on, until you allow it something again.</p>
<form method="post" action="${at}/disconnect${query('client', clientId)}">${hidden({ token })}<button>Disconnect</button></form>
<p><a href="${at}">Keep it connected</a></p>`,
  });
