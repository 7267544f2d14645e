import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Context } from 'koa';
import { headerValues } from '../wire/framing.ts';
import type { HttpAppOptions } from './app-options.ts';
import type { Presented } from './authenticator.ts';
import { insufficientScope } from './http-errors.ts';
import type { Auth, Caller, CredentialKind } from './route.ts';

/** Whoever the route's `auth` asks for: a user, a service, or nobody. */
export interface Admitted {
  readonly caller?: Caller;
  readonly service?: string;
}

type UserAuth = Exclude<Auth, { readonly kind: 'none' | 'internal' }>;

const ACCEPTS: Readonly<Record<UserAuth['kind'], readonly CredentialKind[]>> = {
  pat: ['pat', 'oauth'],
  session: ['session'],
  'pat+session': ['pat', 'oauth', 'session'],
};

/** 401, then 429 (both as the authenticator says), then 403 for the scope. */
export const admit = async (ctx: Context, auth: Auth, options: HttpAppOptions): Promise<Admitted> => {
  if (auth.kind === 'none') return {};
  ctx.vary('Authorization');
  if (auth.kind === 'internal') return { service: await admitService(ctx, auth.callers, options) };
  return { caller: await admitUser(ctx, auth, options) };
};

export const admitService = async (ctx: Context, callers: readonly string[], { internalAuth }: HttpAppOptions): Promise<string> => {
  const service = await internalAuth.verify(headerValues(ctx.req, 'authorization'));
  if (!callers.includes(service)) throw new DomainError('unauthorized', 'This service may not call this endpoint.');
  return service;
};

const presentedBy = (ctx: Context, accepts: readonly CredentialKind[]): Presented => {
  const assertion = ctx.req.headers['x-internal-assertion'];
  return { authorization: headerValues(ctx.req, 'authorization'), assertion: typeof assertion === 'string' ? assertion : null, accepts };
};

const admitUser = async (ctx: Context, auth: UserAuth, { authenticator, publicBaseUrl }: HttpAppOptions): Promise<Caller> => {
  const admission = await authenticator.admit(presentedBy(ctx, ACCEPTS[auth.kind]));
  ctx.set({ ...admission.headers });
  if ('refusal' in admission) throw admission.refusal;
  const { caller } = admission;
  const scope = auth.kind === 'session' ? null : auth.scope;
  // A session is the user, not an app that was granted something.
  if (scope === null || caller.kind === 'session' || caller.scopes.includes(scope)) return caller;
  ctx.set('WWW-Authenticate', insufficientScope(scope, publicBaseUrl));
  throw new DomainError('forbidden', `The credential lacks the scope ${scope}.`);
};
