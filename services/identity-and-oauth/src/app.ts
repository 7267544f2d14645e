import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { OAuthLifetimes } from './domain/grant.ts';
import type {
  AccessTokenSigner,
  AccessTokenVerifier,
  AccountChanged,
  AccountStore,
  AddressStore,
  Assertions,
  AuthorizationRequestStore,
  CodeStore,
  CredentialStore,
  Ed25519Key,
  GrantStore,
  NoteUse,
  OAuthClients,
  P256Key,
  RateWindows,
  RefreshTokenStore,
  RegisteredClientStore,
  RevokedKeyStore,
  SessionStore,
  SigningKeys,
  TeamStore,
  Uses,
} from './ports.ts';
import type { MailCode, MailedCodes, SignInStore, Throttle } from './sign-in-ports.ts';
import { readAccess } from './use-cases/access.ts';
import { changeProfile, createAccount, endCredentials, getAccount, listAccounts, setAccountState } from './use-cases/accounts.ts';
import { answerConsent, showConsent, startAuthorization, sweepAuthorizationRequests } from './use-cases/authorization.ts';
import { checkCredentials, checkForServices } from './use-cases/check-credentials.ts';
import {
  addClient,
  changeRegistration,
  deleteRegistration,
  endClient,
  findRegistrant,
  listClients,
  registerClient,
  sweepClients,
} from './use-cases/clients.ts';
import { disconnectApp, getConnectedApp, listConnectedApps } from './use-cases/connected-apps.ts';
import { endGrant, listGrants, sweepGrants } from './use-cases/grants.ts';
import { createKey, grantKey, listKeys, revokeKey, sweepRevokedKeys } from './use-cases/keys.ts';
import { endAllSessions, endOwnSession, endSession, listSessions, startSession, sweepSessions } from './use-cases/sessions.ts';
import { beginSignIn, checkSignInCode, openAccount, readSignIn, sweepSignIns } from './use-cases/sign-in.ts';
import { createWorkspace, findWorkspaces, joinWorkspace, openForDomain } from './use-cases/signup.ts';
import { addChannel, changeTeam, createTeam, endMembership, getTeam, listTeams, setMembership, teamsOfCaller } from './use-cases/teams.ts';
import { authenticateClient, exchangeCode, issueGrant, refreshTokens, revokeToken } from './use-cases/tokens.ts';
import { listWebhooks, readWebhook, redeliver, testWebhook } from './use-cases/webhooks.ts';
import type { Webhooks } from './webhook-ports.ts';

interface AppPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly accounts: AccountStore;
  readonly addresses: AddressStore;
  readonly takeEarlierAddresses: () => Promise<void>;
  readonly accountChanged: AccountChanged;
  readonly teams: TeamStore;
  readonly sessions: SessionStore;
  readonly revokedKeys: RevokedKeyStore;
  readonly keyUses: Uses;
  readonly grantUses: Uses;
  readonly noteUse: NoteUse;
  readonly clients: OAuthClients;
  readonly credentials: CredentialStore;
  readonly accessTokens: AccessTokenVerifier;
  readonly rateWindows: RateWindows;
  readonly assertions: Assertions;
  readonly assertionKeys: SigningKeys<Ed25519Key>;
  readonly accessTokenSigner: AccessTokenSigner;
  readonly accessTokenKeys: SigningKeys<P256Key>;
  readonly grants: GrantStore;
  readonly codes: CodeStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly lifetimes: OAuthLifetimes;
  readonly registeredClients: RegisteredClientStore;
  readonly throttle: Throttle;
  /** Issuer in documents, tokens and redirects: the public base URL without a trailing slash. */
  readonly issuer: string;
  readonly authorizationRequests: AuthorizationRequestStore;
  readonly signIns: SignInStore;
  readonly mailedCodes: MailedCodes;
  readonly mailCode: MailCode;
  readonly codesPerClient: number;
  /** How long a workspace that signs up is pro for nothing. */
  readonly trialMs: number;
  readonly webhooks: Webhooks;
}

const oauthUseCases = (ports: AppPorts) => ({
  authenticateClient: authenticateClient(ports),
  exchangeCode: exchangeCode(ports),
  refreshTokens: refreshTokens(ports),
  revokeToken: revokeToken(ports),
  issueGrant: issueGrant(ports),
  listGrants: listGrants(ports),
  endGrant: endGrant(ports),
  sweepGrants: sweepGrants(ports),
  listConnectedApps: listConnectedApps(ports),
  getConnectedApp: getConnectedApp(ports),
  disconnectApp: disconnectApp(ports),

  registerClient: registerClient(ports),
  findRegistrant: findRegistrant(ports),
  changeRegistration: changeRegistration(ports),
  deleteRegistration: deleteRegistration(ports),
  addClient: addClient(ports),
  listClients: listClients(ports),
  endClient: endClient(ports),
  sweepClients: sweepClients(ports),

  startAuthorization: startAuthorization(ports),
  showConsent: showConsent(ports),
  answerConsent: answerConsent(ports),
  sweepAuthorizationRequests: sweepAuthorizationRequests(ports),
});

/** What identity can do. */
export const createApp = (ports: AppPorts) => ({
  checkCredentials: checkCredentials(ports),
  checkForServices: checkForServices(ports),
  publishedAssertionKeys: () => ports.assertionKeys.published(),
  rotateAssertionKeys: () => ports.assertionKeys.rotate(),
  publishedAccessTokenKeys: () => ports.accessTokenKeys.published(),
  rotateAccessTokenKeys: () => ports.accessTokenKeys.rotate(),

  teamsOfCaller: teamsOfCaller(ports),
  createKey: createKey(ports),
  listKeys: listKeys(ports),
  revokeKey: revokeKey(ports),
  sweepRevokedKeys: sweepRevokedKeys(ports),

  readAccess: readAccess(ports),
  getAccount: getAccount(ports),
  listAccounts: listAccounts(ports),
  takeEarlierAddresses: () => ports.takeEarlierAddresses(),
  createAccount: createAccount(ports),
  changeProfile: changeProfile(ports),
  setAccountState: setAccountState(ports),
  endCredentials: endCredentials(ports),
  grantKey: grantKey(ports),
  startSession: startSession(ports),
  endSession: endSession(ports),
  listSessions: listSessions(ports),
  endOwnSession: endOwnSession(ports),
  endAllSessions: endAllSessions(ports),
  sweepSessions: sweepSessions(ports),

  beginSignIn: beginSignIn(ports),
  readSignIn: readSignIn(ports),
  checkSignInCode: checkSignInCode(ports),
  openAccount: openAccount(ports),
  sweepSignIns: sweepSignIns(ports),

  findWorkspaces: findWorkspaces(ports),
  joinWorkspace: joinWorkspace(ports),
  createWorkspace: createWorkspace(ports),
  openForDomain: openForDomain(ports),

  listWebhooks: listWebhooks(ports),
  readWebhook: readWebhook(ports),
  testWebhook: testWebhook(ports),
  redeliver: redeliver(ports),

  ...oauthUseCases(ports),

  getTeam: getTeam(ports),
  listTeams: listTeams(ports),
  createTeam: createTeam(ports),
  changeTeam: changeTeam(ports),
  addChannel: addChannel(ports),
  setMembership: setMembership(ports),
  endMembership: endMembership(ports),
});
export type App = ReturnType<typeof createApp>;
