import { type Markup, markup } from '@bubbles/http/routes/markup.ts';
import type { Session } from '../../../domain/token.ts';
import type { ListedSessions } from '../../../use-cases/sessions.ts';
import { appPage, hidden, timeOf } from './app-page.ts';

const at = '/app/sessions';

/** What the forms of the page are sent with. */
interface Forms {
  readonly currentId: string;
  readonly tokenFor: (sessionId: string) => string;
  readonly tokenForAll: string;
}

const row = ({ id, createdAt, expiresAt }: Session, { currentId, tokenFor }: Forms): Markup => markup`<tr>
<th scope="row">${timeOf(createdAt)}${id === currentId && markup` <strong>This browser</strong>`}</th><td>${timeOf(expiresAt)}</td>
<td><form method="post" action="${at}">${hidden({ session: id, token: tokenFor(id) })}<button class="plain" aria-label="Sign out the session of ${createdAt.toISOString()}">Sign out</button></form></td></tr>`;

/** `notice` says what was just done. */
export const sessionsPage = ({ sessions, hasMore }: ListedSessions, forms: Forms, notice: string | null): Markup =>
  appPage({
    at,
    title: 'Sessions',
    main: markup`${notice !== null && markup`<p role="status">${notice}</p>`}
<p>Browsers and apps of ours in which you are signed in.</p>
<table>
<thead><tr><th scope="col">Signed in</th><th scope="col">Ends</th><td></td></tr></thead>
<tbody>${sessions.map((session) => row(session, forms))}</tbody></table>
${hasMore && markup`<p>Older ones are not shown.</p>`}
<h2>Sign out everywhere</h2>
<p>All sessions end, this one too. Keys and connected apps stay.</p>
<form method="post" action="${at}">${hidden({ session: 'all', token: forms.tokenForAll })}<button>Sign out everywhere</button></form>`,
  });
