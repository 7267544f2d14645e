import { type Markup, markup, pageOf } from '@bubbles/http/routes/markup.ts';

/** The pages of a signed-in account, as the navigation names them. */
const PAGES = {
  '/app/': 'Account',
  '/app/api-keys': 'API keys',
  '/app/connected-apps': 'Connected apps',
  '/app/webhooks': 'Webhooks',
  '/app/sessions': 'Sessions',
} as const;
type AppPath = keyof typeof PAGES;

const links = (current: AppPath): Markup =>
  markup`<ul>${Object.entries(PAGES).map(
    ([path, name]) => markup`<li><a href="${path}"${path === current && markup` aria-current="page"`}>${name}</a></li>`,
  )}</ul>`;

/** A page of a signed-in account: `at` is the page of the navigation that it belongs to. */
export const appPage = ({ at, title, main }: { readonly at: AppPath; readonly title: string; readonly main: Markup }): Markup =>
  pageOf({ title, nav: links(at), main: markup`<h1>${title}</h1>${main}` });

const DAY_AND_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

export const timeOf = (at: Date): Markup => markup`<time datetime="${at.toISOString()}">${DAY_AND_TIME.format(at)} UTC</time>`;

/** What a form sends beside what is typed. */
export const hidden = (fields: Readonly<Record<string, string>>): readonly Markup[] =>
  Object.entries(fields).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`);
