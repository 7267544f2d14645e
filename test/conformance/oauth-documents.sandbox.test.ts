import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auth as authOf2026 } from '@modelcontextprotocol/client';
import { auth as authOf2025 } from '@modelcontextprotocol/sdk/client/auth.js';
import { assistantClient } from './support/assistant-client.ts';
import { authorizationUrl, browserOf, CALLBACK, consent, statusOf } from './support/oauth-scene.ts';
import { type Sandbox, startSandbox, worldAt } from './support/sandbox-world.ts';
import type { World } from './support/world.ts';

const certificates = new URL('../../shared/testing/data/certificates/', import.meta.url);
const certificate = new URL('localhost.pem', certificates);

let sandbox: Sandbox;
let world: World;
let documents: Server;
let documentUrl: string;
let asked = 0;

const metadata = { client_name: 'An assistant with a home page', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };

beforeAll(async () => {
  const tls = { cert: readFileSync(certificate), key: readFileSync(new URL('localhost.key', certificates)) };
  documents = createServer(tls, (req, res) => {
    asked += 1;
    const client_id = `https://${req.headers.host}${req.url}`;
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ client_id, ...metadata }));
  });
  documents.listen(0, '127.0.0.1');
  await once(documents, 'listening');
  const { port } = documents.address() as AddressInfo; // It listens on a port.
  documentUrl = `https://localhost:${port}/client.json`;
  sandbox = await startSandbox(['--data', ':memory:'], { OAUTH_CLIENT_DOCUMENTS_EXTRA_CA_FILE: fileURLToPath(certificate) });
  world = worldAt(sandbox.url, () => sandbox.stop());
});
afterAll(async () => {
  await world.close();
  documents.closeAllConnections();
  await new Promise((resolve) => documents.close(resolve));
});

describe('a client whose id is the URL of its metadata document', () => {
  it.each([
    ['2025', authOf2025],
    ['2026', authOf2026],
  ])('[OAUTH-05] [OAUTH-07] an MCP client of %s comes without registration', async (_year, auth) => {
    const person = await world.user();
    const client = assistantClient(metadata, documentUrl);
    const serverUrl = `${world.baseUrl}/mcp`;
    expect(await auth(client, { serverUrl })).toBe('REDIRECT');
    expect(client.sentTo().searchParams.get('client_id')).toBe(documentUrl);
    const page = await browserOf(world, person).open(client.sentTo());
    expect(page.html).toContain(metadata.client_name);
    const { searchParams: back } = await consent(browserOf(world, person), client.sentTo());
    const [authorizationCode, iss] = [back.get('code') ?? '', back.get('iss') ?? ''];
    expect(await auth(client, { serverUrl, authorizationCode, iss })).toBe('AUTHORIZED');
    expect(await statusOf(world, client.held().access_token)).toBe(200);
    expect(await auth(client, { serverUrl })).toBe('AUTHORIZED');
    expect(asked).toBe(1);
  });

  it('[OAUTH-05] a document that names another URL is a page of ours, and nobody is led away', async () => {
    const browser = browserOf(world, await world.user());
    const app = { client_id: documentUrl.replace('localhost', '127.0.0.1'), redirect_uris: [CALLBACK] };
    const page = await browser.open(authorizationUrl(world, app));
    expect([page.status, page.url.host]).toEqual([400, new URL(world.baseUrl).host]);
  });
});
