import { type Markup, markup } from '@bubbles/http/routes/markup.ts';
import type { Account } from '../../../domain/account.ts';
import { appPage, hidden } from './app-page.ts';

/** `signOut` are the fields of the form that ends this session. */
export const homePage = ({ name, email }: Account, signOut: Readonly<Record<string, string>>): Markup =>
  appPage({
    at: '/app/',
    title: 'Your account',
    main: markup`<p>You are signed in as <bdi>${name ?? email ?? 'somebody without a name'}</bdi>${name !== null && email !== null && markup` (<bdi>${email}</bdi>)`}.</p>
<ul>
<li><a href="/app/api-keys">API keys</a>: personal access tokens for scripts and servers</li>
<li><a href="/app/connected-apps">Connected apps</a>: what you have allowed to which app</li>
<li><a href="/app/webhooks">Webhooks</a>: receivers of events, and what was delivered to them</li>
<li><a href="/app/sessions">Sessions</a>: where you are signed in</li>
</ul>
<form method="post" action="/app/sessions">${hidden(signOut)}<button class="plain">Sign out</button></form>`,
  });
