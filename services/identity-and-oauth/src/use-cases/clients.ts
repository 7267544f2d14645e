import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type ClientMetadata, clientMetadata, type RegisteredClient } from '../domain/oauth-client.ts';
import { hashToken, TOKEN_BYTES } from '../domain/token.ts';
import type { GrantStore, Page, RegisteredClientStore } from '../ports.ts';
import type { Throttle } from '../sign-in-ports.ts';

const CLIENT_ID_BYTES = 24;
const SECRET_PREFIX = 'svc_secret_';
const REGISTRATION_PREFIX = 'svc_registration_';

interface ClientPorts {
  readonly registeredClients: RegisteredClientStore;
}

/** What an app sends to register, or in place of what it registered before. */
type Sent = Readonly<Record<string, unknown>>;

export interface Registration {
  readonly client: RegisteredClient;
  readonly registrationToken: string;
  /** Where one was just made; from here it goes into the answer and nowhere else. */
  readonly secret: string | null;
}

/** Twenty a minute, and sixty at once: many users of a hosted app share its address. */
const REGISTRATIONS = { limit: 60, windowMs: 3 * 60 * 1000 };

export const registerClient =
  ({ registeredClients, throttle, clock, ids }: ClientPorts & { throttle: Throttle; clock: Clock; ids: Ids }) =>
  async ({ sent, from }: { sent: Sent; from: string }): Promise<Registration> => {
    const decision = await throttle.take(`register ${from}`, REGISTRATIONS);
    if (!decision.allowed) throw tooManyRegistrations(decision);
    return makeClient({ registeredClients, clock, ids }, sent);
  };

const makeClient = async (
  { registeredClients, clock, ids }: ClientPorts & { clock: Clock; ids: Ids },
  sent: Sent,
): Promise<Registration> => {
  const metadata = clientMetadata(sent);
  const secret = newSecret(metadata, ids);
  const registrationToken = REGISTRATION_PREFIX + ids.bytes(TOKEN_BYTES).toString('base64url');
  const at = clock.now();
  const client: RegisteredClient = {
    ...metadata,
    id: ids.bytes(CLIENT_ID_BYTES).toString('base64url'),
    secretHash: secret && hashToken(secret),
    registrationTokenHash: hashToken(registrationToken),
    issuedAt: at,
    authorized: false,
    lastUsedAt: at,
  };
  await registeredClients.insert(client);
  return { client, registrationToken, secret };
};

/** For an operator: no rate limit holds. */
export const addClient =
  (ports: ClientPorts & { clock: Clock; ids: Ids }) =>
  async (sent: Sent): Promise<RegisteredClient> =>
    (await makeClient(ports, { ...sent, token_endpoint_auth_method: 'none' })).client;

export const listClients =
  ({ registeredClients }: ClientPorts) =>
  (page: Page): Promise<RegisteredClient[]> =>
    registeredClients.page(page);

const tooManyRegistrations = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  new DomainError('rate_limited', `Too many registrations from this address. Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });

const newSecret = ({ authMethod }: ClientMetadata, ids: Ids): string | null =>
  authMethod === 'none' ? null : SECRET_PREFIX + ids.bytes(TOKEN_BYTES).toString('base64url');

/** The client whose registration token this is; null for a token of another one and when there is no such client. */
export const findRegistrant =
  ({ registeredClients }: ClientPorts) =>
  async ({ clientId, registrationToken }: { clientId: string; registrationToken: string }): Promise<RegisteredClient | null> => {
    const client = await registeredClients.get(clientId);
    return client && isHashOf(client.registrationTokenHash, registrationToken) ? client : null;
  };

const isHashOf = (hash: string, token: string): boolean => timingSafeEqual(Buffer.from(hash), Buffer.from(hashToken(token)));

interface Change extends Pick<Registration, 'client' | 'registrationToken'> {
  readonly sent: Sent;
}

/** RFC 7592, 2.2: what is sent replaces all that was there. A secret is made, or forgotten, with the way in which the client proves itself. */
export const changeRegistration =
  ({ ids, ...ports }: ClientPorts & { ids: Ids }) =>
  async ({ client, registrationToken, sent }: Change): Promise<Registration> => {
    checkIdentity(client, sent);
    const metadata = clientMetadata(sent);
    const secret = client.secretHash === null ? newSecret(metadata, ids) : null;
    const keptHash = metadata.authMethod === 'none' ? null : client.secretHash;
    const secretHash = secret === null ? keptHash : hashToken(secret);
    if (!(await ports.registeredClients.change(client.id, { ...metadata, secretHash }))) throw gone();
    return { client: { ...client, ...metadata, secretHash }, registrationToken, secret };
  };

const gone = () => new DomainError('unauthorized', 'The client has been deleted.', { type: 'invalid_token' });

/** A client does not choose its id or its secret; both may be named. */
const checkIdentity = ({ id, secretHash }: RegisteredClient, { client_id: sentId, client_secret: secret = null }: Sent): void => {
  const isOwnSecret = secret === null || (typeof secret === 'string' && secretHash !== null && isHashOf(secretHash, secret));
  if (sentId !== id || !isOwnSecret)
    throw new DomainError('invalid', 'client_id and client_secret: must be those of this client.', { type: 'invalid_client_metadata' });
};

interface ClientEndPorts extends ClientPorts {
  readonly grants: GrantStore;
}

/** What was granted ends before the client goes, so that a request which comes again finds the client; and after it, for what was granted meanwhile. */
const removeClient = async ({ grants, registeredClients }: ClientEndPorts, id: string): Promise<void> => {
  await grants.endOfClient(id);
  await registeredClients.delete(id);
  await grants.endOfClient(id);
};

export const deleteRegistration =
  (ports: ClientEndPorts) =>
  ({ id }: RegisteredClient): Promise<void> =>
    removeClient(ports, id);

/** For an operator. A client of a metadata document has no registration, but what was granted to it. */
export const endClient =
  (ports: ClientEndPorts) =>
  async (clientId: string): Promise<void> => {
    const isKnown = (await ports.registeredClients.get(clientId)) !== null || (await ports.grants.anyOfClient(clientId));
    if (!isKnown) throw new DomainError('not_found', 'No such client.');
    await removeClient(ports, clientId);
  };

const DAY_MS = 24 * 60 * 60 * 1000;
/** Some clients register each time they connect. */
const NEVER_AUTHORIZED_MS = 7 * DAY_MS;
const UNUSED_MS = 180 * DAY_MS;
const CLIENTS_PER_SWEEP = 500;

export const sweepClients =
  ({ registeredClients, grants, clock }: ClientPorts & { grants: GrantStore; clock: Clock }) =>
  async (): Promise<void> => {
    const now = clock.now();
    await registeredClients.deleteNeverAuthorized(new Date(now.getTime() - NEVER_AUTHORIZED_MS));
    const before = new Date(now.getTime() - UNUSED_MS);
    for (;;) {
      const unused = await registeredClients.unusedSince(before, CLIENTS_PER_SWEEP);
      for (const id of unused) {
        if (await grants.anyOfClient(id)) await registeredClients.noteAuthorized(id, now);
        else await registeredClients.deleteUnusedSince(id, before);
      }
      if (unused.length < CLIENTS_PER_SWEEP) return;
    }
  };
