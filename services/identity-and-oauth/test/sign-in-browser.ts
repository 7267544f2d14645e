import type { TestIdentity } from './identity.ts';

export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  /** Where the browser is sent to; null when it stays. */
  readonly to: string | null;
  readonly text: string;
}

/** Keeps cookies and fills in forms, as a browser without scripts does. */
export interface Browser {
  readonly cookies: Map<string, string>;
  get(path: string): Promise<Shown>;
  post(path: string, fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): Promise<Shown>;
  /** Sends the first form of the page with its hidden fields and these. */
  submit(page: Shown, fields: Readonly<Record<string, string>>): Promise<Shown>;
}

const HIDDEN = /<input type="hidden" name="([^"]*)" value="([^"]*)">/g;
const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');

export const hiddenFieldsOf = ({ text }: Shown): Record<string, string> =>
  Object.fromEntries([...text.matchAll(HIDDEN)].map(([, name = '', value = '']) => [name, unescaped(value)]));

export const openBrowser = (identity: Pick<TestIdentity, 'fetch'>, address = '203.0.113.7'): Browser => {
  const cookies = new Map<string, string>();
  const ask = async (path: string, init: RequestInit = {}, headers: Readonly<Record<string, string>> = {}): Promise<Shown> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await identity.fetch(path, {
      ...init,
      headers: { 'x-forwarded-for': address, ...(cookie !== '' && { cookie }), ...headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0(?:;|$)/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, to: response.headers.get('location'), text: await response.text() };
  };
  const post: Browser['post'] = (path, fields, headers) => ask(path, { method: 'POST', body: new URLSearchParams(fields) }, headers);
  return {
    cookies,
    get: (path) => ask(path),
    post,
    submit: (page, fields) =>
      post(/<form method="post" action="([^"]*)"/.exec(page.text)?.[1] ?? '', { ...hiddenFieldsOf(page), ...fields }),
  };
};

/** The code of the last mail to the address. */
export const codeFor = async ({ settle, mail }: Pick<TestIdentity, 'settle' | 'mail'>, address: string): Promise<string> => {
  await settle();
  const last = mail.accepted.findLast(({ to }) => to === address);
  return /\b\d{6}\b/.exec(last?.text ?? '')?.[0] ?? 'no mail came';
};

/** Up to the page that asks for the code. */
export const askForCode = async (browser: Browser, address: string, returnTo = ''): Promise<Shown> => {
  const page = await browser.get(returnTo === '' ? '/app/sign-in' : `/app/sign-in?return_to=${encodeURIComponent(returnTo)}`);
  const sent = await browser.submit(page, { address });
  return sent.to === null ? sent : browser.get(sent.to);
};

/** With the code of the mail; answers what follows. */
export const signIn = async (identity: TestIdentity, browser: Browser, address: string, returnTo?: string): Promise<Shown> =>
  browser.submit(await askForCode(browser, address, returnTo), { code: await codeFor(identity, address) });

/** Signs in at an address without an account, and opens one. */
export const signUp = async (identity: TestIdentity, browser: Browser, address: string, name: string): Promise<Shown> => {
  const proven = await signIn(identity, browser, address);
  return browser.submit(await browser.get(proven.to ?? ''), { name });
};

/** Status and heading. */
export const titleOf = ({ status, text }: Shown) => [status, /<h1>(.*?)<\/h1>/.exec(text)?.[1]];
