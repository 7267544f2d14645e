import {
  ACCEPTED_KINDS,
  type Caller,
  CREDENTIAL_REFUSALS,
  type CredentialKind,
  hasScope,
  isAccepted,
  SECURITY_SCHEMES,
} from '@bubbles/contracts/access.ts';
import { OPERATOR } from '@bubbles/contracts/services.ts';
import type { Guard, GuardRequest } from '@bubbles/http/routes/guard.ts';
import { resourceMetadataUrl } from '@bubbles/http/routes/http-errors.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';

/** Authenticates callers. */
export interface Authenticator {
  /** The caller in identity's assertion for this service; rejects with `unauthorized` when it is missing or invalid. */
  callerOf(assertion: string | null): Promise<Caller>;
}

/** Tells which service calls an internal endpoint. */
export interface InternalAuth {
  /** The name of the calling service; rejects with `unauthorized`. `authorization`: every header of that name. */
  verify(authorization: readonly string[]): Promise<string>;
}

/** What the guards need of the host. */
export interface AuthPorts {
  readonly authenticator: Authenticator;
  readonly internalAuth: InternalAuth;
}

/** Everybody; nothing of the caller is looked at. */
export const anyone: Guard<object> = {
  security: [],
  gatewayMark: 'none',
  callers: null,
  isCounted: false,
  refusals: [],
  reads: null,
  admit: () => Promise.resolve({}),
};

/** The named services, each with its service token; `any` for all whose keys the called one holds. */
export const internal = (callers: readonly string[] | 'any'): Guard<{ readonly service: string }, Pick<AuthPorts, 'internalAuth'>> => ({
  security: [{ [SECURITY_SCHEMES.internal]: [] }],
  gatewayMark: 'internal',
  callers: callers === 'any' ? [] : callers,
  isCounted: false,
  refusals: ['unauthorized'],
  reads: 'Authorization',
  admit: async (request, { internalAuth }) => {
    const service = await internalAuth.verify(request.header('authorization'));
    if (callers !== 'any' && !callers.includes(service)) throw new DomainError('unauthorized', 'This service may not call this endpoint.');
    return { service };
  },
});

/** Shared spec of operators' routes. */
export const forOperators = { tag: 'Admin', guard: internal([OPERATOR]), audit: {} } as const;

type AcceptedKinds = keyof typeof ACCEPTED_KINDS;

/** Authenticates the caller; rejects with the refusal. */
type Check<I, Ports> = (request: GuardRequest, accepts: readonly CredentialKind[], ports: Ports) => Promise<I>;

/** Guards of routes for users, on one way of authentication. */
export const userGuards = <I extends { readonly caller: Caller }, Ports>(check: Check<I, Ports>) => {
  const guard = (kinds: AcceptedKinds, scope: string | null): Guard<I, Ports> => ({
    security: ACCEPTED_KINDS[kinds].map((kind) => ({ [SECURITY_SCHEMES[kind]]: kind === 'oauth' && scope !== null ? [scope] : [] })),
    gatewayMark: kinds,
    callers: null,
    isCounted: true,
    refusals: scope === null ? ['unauthorized'] : ['unauthorized', 'forbidden'],
    reads: 'Authorization',
    admit: async (request, ports) => {
      const found = await check(request, ACCEPTED_KINDS[kinds], ports);
      if (scope !== null && !hasScope(found.caller, scope)) throw scopeRefusal(scope, request);
      return found;
    },
    // An account that was deleted and opened again is another one: nothing that was kept before is told to it.
    keyOwner: ({ caller }) => [caller.userId, caller.life],
    clientOf: ({ caller }) => `${caller.kind} ${caller.credentialId}`,
  });
  return {
    /** A personal access token, or an OAuth access token with the scope; every scope will do for null. */
    pat: (scope: string | null) => guard('pat', scope),
    /** Signed in to the app. */
    session: guard('session', null),
    patOrSession: (scope: string | null) => guard('pat+session', scope),
  };
};

/** RFC 6750, section 3. */
const scopeRefusal = (scope: string, { answerWith, publicBaseUrl }: GuardRequest): DomainError => {
  const metadata = resourceMetadataUrl(publicBaseUrl);
  answerWith('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata}"`);
  return new DomainError('forbidden', `The credential lacks the scope ${scope}.`);
};

/** Users, as identity vouches for them. */
export const { pat, session, patOrSession } = userGuards(async (request, accepts, { authenticator }: Pick<AuthPorts, 'authenticator'>) => {
  const [assertion = null, ...others] = request.header('x-internal-assertion');
  const caller = await authenticator.callerOf(others.length > 0 ? null : assertion);
  if (!isAccepted(caller.kind, accepts)) throw refusal(CREDENTIAL_REFUSALS.unauthorized);
  return { caller };
});
