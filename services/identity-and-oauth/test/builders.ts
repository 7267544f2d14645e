import { SCOPES } from '@bubbles/contracts/access.ts';
import { type Account, type ActiveKey, newAccount } from '../src/domain/account.ts';
import type { AuthorizationRequest } from '../src/domain/authorization.ts';
import type { Credential } from '../src/domain/credential.ts';
import type { AuthorizationCode, Grant, RefreshToken } from '../src/domain/grant.ts';
import type { RegisteredClient } from '../src/domain/oauth-client.ts';
import type { Team } from '../src/domain/team.ts';
import { hashToken, type Session } from '../src/domain/token.ts';
import type { AccessToken } from '../src/ports.ts';

export const AT = new Date('2026-03-01T10:00:00.000Z');

export const aKey = (overrides: Partial<ActiveKey> & { token?: string } = {}): ActiveKey => {
  const { token = `svc_pat_${overrides.id ?? 'key-1'}`, ...fields } = overrides;
  return { id: 'key-1', hash: hashToken(token), name: 'ci', preview: 'svc_pat_abcd…', createdAt: AT, ...fields };
};

export const anAccount = (overrides: Partial<Account> = {}): Account => ({
  ...newAccount({
    id: 'user-1',
    profile: { name: 'Ada', email: 'ada@acme.test', pictureUrl: 'https://acme.test/ada.png' },
    keys: [],
    createdAt: AT,
  }),
  ...overrides,
});

export const aTeam = (overrides: Partial<Team> = {}): Team => ({
  id: 'team-1',
  name: 'Acme',
  plan: 'pro',
  archived: false,
  domain: null,
  discoverable: false,
  createdAt: AT,
  channels: [],
  ...overrides,
});

export const aSession = (overrides: Partial<Session> & { token?: string } = {}): Session => {
  const { token = 'svc_session_1', ...fields } = overrides;
  return {
    id: 'session-1',
    hash: hashToken(token),
    accountId: 'user-1',
    createdAt: AT,
    expiresAt: new Date(AT.getTime() + 14 * 86_400_000),
    endedAt: null,
    ...fields,
  };
};

export const aCredential = (overrides: Partial<Credential> = {}): Credential => ({
  id: 'key-1',
  kind: 'pat',
  scopes: Object.keys(SCOPES),
  status: 'live',
  account: anAccount(),
  accountVersion: 1,
  ...overrides,
});

export const aGrant = (overrides: Partial<Grant> = {}): Grant => ({
  id: 'grant-1',
  accountId: 'user-1',
  clientId: 'client-1',
  clientName: 'Notes',
  scopes: Object.keys(SCOPES),
  createdAt: AT,
  expiresAt: new Date(AT.getTime() + 365 * 86_400_000),
  life: 1,
  ...overrides,
});

export const aClient = (overrides: Partial<RegisteredClient> = {}): RegisteredClient => ({
  id: 'client-1',
  name: 'Notes app',
  redirectUris: ['https://app.test/cb'],
  authMethod: 'client_secret_basic',
  scopes: Object.keys(SCOPES),
  clientUri: 'https://app.test/',
  secretHash: hashToken('svc_secret_1'),
  registrationTokenHash: hashToken('svc_registration_1'),
  issuedAt: AT,
  authorized: false,
  lastUsedAt: AT,
  ...overrides,
});

export const aCode = (overrides: Partial<AuthorizationCode> = {}): AuthorizationCode => ({
  hash: hashToken('code-1'),
  grantId: 'grant-1',
  accountId: 'user-1',
  createdAt: AT,
  expiresAt: new Date(AT.getTime() + 60_000),
  redirectUri: 'https://app.test/callback',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  ...overrides,
});

export const aRefreshToken = (overrides: Partial<RefreshToken> = {}): RefreshToken => ({
  issuedFor: hashToken('code-1'),
  hash: hashToken('refresh-1'),
  grantId: 'grant-1',
  accountId: 'user-1',
  createdAt: AT,
  expiresAt: new Date(AT.getTime() + 30 * 86_400_000),
  keepUntil: new Date(AT.getTime() + 30 * 86_400_000),
  ...overrides,
});

export const anAccessToken = (overrides: Partial<AccessToken> = {}): AccessToken => ({
  grantId: 'grant-1',
  accountId: 'user-1',
  clientId: 'client-1',
  scopes: Object.keys(SCOPES),
  expiresAt: new Date(AT.getTime() + 3_600_000),
  ...overrides,
});

export const anAuthorizationRequest = (overrides: Partial<AuthorizationRequest> = {}): AuthorizationRequest => ({
  hash: hashToken('request-1'),
  cookieHash: hashToken('secret-1'),
  clientId: 'client-1',
  redirectUri: 'https://app.test/cb',
  state: 'a b',
  scopes: Object.keys(SCOPES),
  challenge: 'a'.repeat(43),
  createdAt: AT,
  expiresAt: new Date(AT.getTime() + 1_800_000),
  answer: null,
  ...overrides,
});
