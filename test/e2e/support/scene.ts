import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { control, type Sandbox, startSandbox, worldAt } from '../../conformance/support/sandbox-world.ts';
import type { Person, World } from '../../conformance/support/world.ts';
import { startChromium } from './chromium.ts';

export interface Scene {
  readonly world: World;
  /** The page of a browser that nobody has used before, without scripts where the test says so. */
  freshPage(options?: { readonly javaScriptEnabled?: boolean }): Promise<Page>;
  /** The page of a browser in which this person is signed in. */
  pageOf(person: Person, options?: { readonly javaScriptEnabled?: boolean }): Promise<Page>;
  /** The code of the newest mail to the address. */
  mailedCode(address: string): Promise<string>;
  close(): Promise<void>;
}

/** All of them come from one address. */
const SETTINGS = { SIGN_IN_CODES_PER_CLIENT: '1000' };
const DIGITS = /\b\d{6}\b/;
/** Of one action in a page: nearly all that a test may take. */
const ACTION_LIMIT_MS = 100_000;

export const openScene = async (): Promise<Scene> => {
  const [sandbox, browser]: [Sandbox, Browser] = await Promise.all([startSandbox(['--data', ':memory:'], SETTINGS), startChromium()]);
  const world = worldAt(sandbox.url, () => sandbox.stop());
  const contexts: BrowserContext[] = [];
  const freshPage: Scene['freshPage'] = async (options = {}) => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(ACTION_LIMIT_MS);
    contexts.push(context);
    return context.newPage();
  };
  return {
    world,
    freshPage,
    async pageOf({ session_token: value }, options) {
      const page = await freshPage(options);
      await page.context().addCookies([{ name: 'session', value, url: sandbox.url, httpOnly: true, sameSite: 'Lax' }]);
      return page;
    },
    async mailedCode(address) {
      const [mail] = await control(sandbox.url, `GET /mailbox?to=${encodeURIComponent(address)}`);
      const [code] = DIGITS.exec(mail?.text ?? '') ?? [];
      if (code === undefined) throw new Error(`no code was mailed to ${address}: ${JSON.stringify(mail)}`);
      return code;
    },
    async close() {
      await browser.close();
      await sandbox.stop();
    },
  };
};

/** Somebody else's site. */
export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

/** An app that waits for the browser to come back: it answers with a page, or sends the browser on to another address. */
export const startApp = async (answer: string | { readonly movedTo: string } = '<h1>Back at the app</h1>'): Promise<Site> => {
  const server = createServer((_req, res) => {
    if (typeof answer === 'string') res.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>App</title>${answer}`);
    else res.writeHead(302, { location: answer.movedTo }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a port.
  return {
    url: `http://127.0.0.1:${port}/callback`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
