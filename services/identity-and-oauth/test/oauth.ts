import { createHash } from 'node:crypto';
import { SCOPES } from '@bubbles/contracts/access.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { openGrants } from '../src/adapters/store/grants.ts';
import { openOAuthClients } from '../src/adapters/store/oauth-clients.ts';
import { issueCode, newGrant } from '../src/domain/grant.ts';
import { hashToken, TOKEN_BYTES } from '../src/domain/token.ts';
import { aClient, anAccount } from './builders.ts';
import type { Answer, TestIdentity } from './identity.ts';

const ids = systemIds();
const CALLBACK = 'https://app.test/cb';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CODE_MS = 60_000;

export interface TestClient {
  readonly id: string;
  /** Null for a public one. */
  readonly secret: string | null;
}

type Form = Record<string, string> | string[][];

/** What apps do with identity. */
export const oauthAt = (identity: Pick<TestIdentity, 'database' | 'clock' | 'as' | 'fetch'>) => {
  const { open } = indexedCollections(identity.database);
  const stores = { ...openGrants(open), clients: openOAuthClients(open) };

  const post =
    (path: string) =>
    async (form: Form, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
      const response = await identity.fetch(path, { method: 'POST', body: new URLSearchParams(form), headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
    };
  const token = post('/oauth/token');
  const inBody = ({ id, secret }: TestClient) => ({ client_id: id, ...(secret !== null && { client_secret: secret }) });

  return {
    stores,
    token,
    revoke: (client: TestClient, tokenText: string, more: Readonly<Record<string, string>> = {}) =>
      post('/oauth/revoke')({ ...inBody(client), token: tokenText, ...more }),
    /** Registered; a public one when not said otherwise. */
    client: async ({ confidential = false } = {}): Promise<TestClient> => {
      const id = ids.bytes(24).toString('base64url');
      const secret = confidential ? `svc_secret_${ids.bytes(TOKEN_BYTES).toString('base64url')}` : null;
      const authMethod = confidential ? 'client_secret_basic' : 'none';
      await stores.clients.insert(aClient({ id, authMethod, secretHash: secret && hashToken(secret) }));
      return { id, secret };
    },
    /** What the app gets when the user has consented. */
    code: async (client: TestClient, accountId: string, { scopes = Object.keys(SCOPES), codeMs = CODE_MS } = {}): Promise<string> => {
      const at = identity.clock.now();
      const seed = { id: ids.uuid(), at, expiresAt: new Date(at.getTime() + codeMs) };
      const grant = newGrant({ owner: anAccount({ id: accountId }), client: { id: client.id, name: 'Notes' }, scopes }, seed);
      const challenge = createHash('sha256').update(VERIFIER).digest('base64url');
      const { stored, token: code } = issueCode(grant, { random: ids.bytes(TOKEN_BYTES), redirectUri: CALLBACK, challenge });
      await stores.codes.insert(stored);
      await stores.grants.insert(grant);
      return code;
    },
    exchange: (client: TestClient, code: string, more: Readonly<Record<string, string>> = {}) =>
      token({ ...inBody(client), grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER, ...more }),
    refresh: (client: TestClient, refreshToken: string, more: Readonly<Record<string, string>> = {}) =>
      token({ ...inBody(client), grant_type: 'refresh_token', refresh_token: refreshToken, ...more }),
  };
};
