import { createHash } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { type Ids, seededIds } from '@bubbles/kernel/ids.ts';
import type { Account } from '../domain/account.ts';
import {
  ACCESS_DENIED,
  type AuthorizationRequest,
  answerUrl,
  askingClient,
  authorizationRefusal,
  authorizationRequest,
  type ConsentAnswer,
  destinationOf,
  grantedScopes,
  noSuchClient,
  type Parameters,
} from '../domain/authorization.ts';
import { isDocumentUrl } from '../domain/client-document.ts';
import { formToken, isFormToken } from '../domain/form-token.ts';
import { issueCode, newGrant, type OAuthLifetimes } from '../domain/grant.ts';
import { type OAuthClient, redirectMatches } from '../domain/oauth-client.ts';
import { hashToken, TOKEN_BYTES } from '../domain/token.ts';
import type { AuthorizationRequestStore, CodeStore, GrantStore, OAuthClients, RefreshTokenStore } from '../ports.ts';
import type { Throttle } from '../sign-in-ports.ts';

interface RequestPorts {
  readonly authorizationRequests: AuthorizationRequestStore;
  readonly clients: Pick<OAuthClients, 'get' | 'noteAuthorized'>;
  readonly issuer: string;
  readonly clock: Clock;
}

/** A request as its browser knows it: the id is in the address, the secret in a cookie. */
interface RequestKey {
  readonly requestId: string;
  readonly secret: string;
}

/** Where the browser goes: back to the app with an answer, or to the consent page with the key of the request. */
type Started = { readonly outcome: 'refused'; readonly location: string } | ({ readonly outcome: 'asked' } & RequestKey);

/** Limit for one client from one address, and for all clients with a metadata document together. */
const AUTHORIZATIONS = { limit: 60, windowMs: 60 * 1000 };

interface Asking {
  readonly parameters: Parameters;
  /** What counts as one address. */
  readonly from: string;
  /** What counts as one customer of a provider. */
  readonly site: string;
}

export const startAuthorization =
  ({ authorizationRequests, clients, throttle, issuer, clock, ids }: RequestPorts & { throttle: Throttle; ids: Ids }) =>
  async ({ parameters, from, site }: Asking): Promise<Started> => {
    const id = askingClient(parameters);
    const take = async (what: string): Promise<void> => {
      const decision = await throttle.take(`authorize ${what} ${from}`, AUTHORIZATIONS);
      if (!decision.allowed) throw new DomainError('rate_limited', 'The app asks too often. Wait a minute, then try again.', decision);
    };
    // Metadata documents count together and before they are fetched, so that one address cannot use up the fetches of everybody.
    if (isDocumentUrl(id)) await take('metadata documents');
    const client = await clients.get(id, site);
    if (client === null) throw noSuchClient();
    const destination = destinationOf(parameters, client);
    if (!isDocumentUrl(id)) await take(id);
    const refusal = authorizationRefusal({ parameters, client, issuer });
    if (refusal) return { outcome: 'refused', location: answerUrl(destination, refusal, issuer) };
    const [requestId, secret] = [ids.bytes(TOKEN_BYTES).toString('base64url'), ids.bytes(TOKEN_BYTES).toString('base64url')];
    const seed = { hash: hashToken(requestId), cookieHash: hashToken(secret), at: clock.now() };
    await authorizationRequests.insert(authorizationRequest(parameters, client, seed));
    return { outcome: 'asked', requestId, secret };
  };

/** Absent, expired and answered requests are told alike: in each case the app has to ask again. */
const over = () =>
  new DomainError(
    'invalid',
    'This request has been answered or has expired. Go back to the app; if it is not connected, connect it again.',
  );

interface Visit {
  readonly requestId: string;
  /** Null in a browser without the cookie of the request. */
  readonly secret: string | null;
}

/** In the browser that brought it, whose secret is known then. It may have been answered. */
const openRequest = async (
  { authorizationRequests, clock }: Pick<RequestPorts, 'authorizationRequests' | 'clock'>,
  { requestId, secret }: Visit,
): Promise<{ readonly request: AuthorizationRequest; readonly secret: string }> => {
  const request = await authorizationRequests.get(hashToken(requestId));
  if (!request || request.expiresAt <= clock.now()) throw over();
  if (secret === null || hashToken(secret) !== request.cookieHash)
    throw new DomainError('forbidden', 'This request was made in another browser. Go back to the app and connect it from this browser.');
  return { request, secret };
};

/** Reads the client again: since the request it may have been deleted or have dropped the redirect URI. */
const clientOf = async (
  clients: RequestPorts['clients'],
  { request, account }: { readonly request: AuthorizationRequest; readonly account: Account },
): Promise<OAuthClient> => {
  const client = await clients.get(request.clientId, account.id);
  if (client === null || !redirectMatches(client.redirectUris, request.redirectUri)) throw noSuchClient();
  return client;
};

/** What the consent page shows. */
export interface Question {
  readonly request: AuthorizationRequest;
  readonly client: OAuthClient;
  readonly account: Account;
  readonly requestId: string;
  /** Stands in the form. */
  readonly token: string;
}

/** What its form decides on: this request, and for which account. */
const formOf = (requestId: string, account: Account): readonly string[] => ['consent', requestId, account.id];

const questionOf = async (
  { clients, ...ports }: Omit<RequestPorts, 'issuer'>,
  { account, ...visit }: Visit & { readonly account: Account },
): Promise<Question> => {
  const { request, secret } = await openRequest(ports, visit);
  if (request.answer !== null) throw over();
  const client = await clientOf(clients, { request, account });
  return { request, client, account, requestId: visit.requestId, token: formToken(secret, formOf(visit.requestId, account)) };
};

export const showConsent =
  (ports: Omit<RequestPorts, 'issuer'>) =>
  (visit: Visit & { readonly account: Account }): Promise<Question> =>
    questionOf(ports, visit);

interface Decision extends Visit {
  /** Null when it was closed while the page was open. */
  readonly account: Account | null;
  readonly token: string;
  readonly allowed: boolean;
  /** The scopes that were left ticked. */
  readonly ticked: readonly string[];
}

interface ConsentPorts extends RequestPorts {
  readonly grants: GrantStore;
  readonly codes: CodeStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly lifetimes: OAuthLifetimes;
}

/** Where the browser goes with the answer; or the page again, when the user allowed the app nothing at all. */
type Answered =
  | { readonly outcome: 'answered'; readonly location: string }
  | { readonly outcome: 'nothing ticked'; readonly question: Question };

export const answerConsent =
  (ports: ConsentPorts) =>
  async ({ account, token, allowed, ticked, ...visit }: Decision): Promise<Answered> => {
    const { request, secret } = await openRequest(ports, visit);
    const denied = { outcome: 'answered', location: answerUrl(request, ACCESS_DENIED, ports.issuer) } as const;
    if (account === null) return denied;
    if (!isFormToken(token, secret, formOf(visit.requestId, account)))
      throw new DomainError('forbidden', 'This form is of another page, or somebody else has signed in since. Open the page again.');
    const scopes = allowed ? grantedScopes(request, ticked) : [];
    if (allowed && scopes.length === 0) return { outcome: 'nothing ticked', question: await questionOf(ports, { ...visit, account }) };
    const answer = await ports.authorizationRequests.answer(request.hash, { accountId: account.id, scopes, at: ports.clock.now() });
    if (answer?.accountId !== account.id) throw over();
    if (answer.scopes.length === 0) return denied;
    const seed = createHash('sha256')
      .update(secret + visit.requestId)
      .digest();
    const code = await issueCodeFor(ports, { request, answer, account, seed });
    return { outcome: 'answered', location: answerUrl(request, { code }, ports.issuer) };
  };

interface Allowed {
  readonly request: AuthorizationRequest;
  readonly answer: ConsentAnswer;
  readonly account: Account;
  /** Known to the browser of the request alone. */
  readonly seed: Buffer;
}

/** A form that comes again, because it was sent twice or because the process died, gets the same code as long as nobody has used it. */
const issueCodeFor = async (
  { clients, grants, codes, refreshTokens, lifetimes, clock }: ConsentPorts,
  { request, answer, account, seed }: Allowed,
): Promise<string> => {
  const client = await clientOf(clients, { request, account });
  const ids = seededIds(seed);
  const expiresAt = new Date(answer.at.getTime() + lifetimes.codeMs);
  const grant = newGrant({ owner: account, client, scopes: answer.scopes }, { id: ids.uuid(), at: answer.at, expiresAt });
  const { redirectUri, challenge } = request;
  const code = issueCode(grant, { random: ids.bytes(TOKEN_BYTES), redirectUri, challenge });
  // A grant whose code was used may have ended: it must not come back.
  const isUsed = async () => (await refreshTokens.issuedFor(code.stored.hash)) !== null;
  if (expiresAt <= clock.now() || (await isUsed())) throw over();
  if (!(await clients.noteAuthorized(client.id, answer.at))) throw noSuchClient();
  if ((await grants.insert(grant)) && (await isUsed())) {
    await grants.end(grant.id);
    throw over();
  }
  await codes.insert(code.stored);
  return code.token;
};

export const sweepAuthorizationRequests =
  ({ authorizationRequests, clock }: Pick<RequestPorts, 'authorizationRequests' | 'clock'>) =>
  (): Promise<void> =>
    authorizationRequests.forgetExpired(clock.now());
