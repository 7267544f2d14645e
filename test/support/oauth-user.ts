import { createHash, randomBytes } from 'node:crypto';
import type { Filled, FormBrowser, Page } from './form-browser.ts';

/** What a user does on a page that the server shows; null on a page that they cannot get past. */
export type Answered = (page: Page) => Filled | null | Promise<Filled | null>;

const MAX_PAGES = 10;

/** Goes where an app sends the browser, answers page after page, and comes out where the app gets the browser back. */
export const followAuthorization = async (browser: FormBrowser, url: string | URL, answer: Answered): Promise<URL> => {
  const home = new URL(url).host;
  let page = await browser.open(url);
  for (let pages = 0; page.url.host === home; pages += 1) {
    const filled = pages < MAX_PAGES ? await answer(page) : null;
    if (filled === null) throw new Error(`the flow ends at ${page.url}: ${page.status} ${page.html}`);
    page = await browser.submit(page, filled);
  }
  return page.url;
};

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

/** RFC 7636, method S256. */
export const drawPkce = (): Pkce => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};
