import { z } from 'zod';
import { ACCOUNT_STATES } from '../access.ts';
import { CallerId, Timestamp } from '../api/fields.ts';
import { CreateTeam } from './identity.ts';

const Email = z.string().max(320, 'must have at most 320 characters');
/** The registrable domain of the address; null when people of that domain do not belong together: public, consumer and disposable ones. */
const CompanyDomain = CreateTeam.shape.domain.unwrap();
/** The same for every step of one flow and for no other flow; not a secret. */
const FlowId = z.string().regex(/^[\w-]{16,128}$/, 'must have 16 to 128 letters, digits, "_" and "-"');
const Flow = { flow_id: FlowId, email: Email };

const Joined = z.object({ user_id: z.string(), team_id: z.string() });

/**
 * What signup asks of identity about an address that a mailed code has proven. Signup alone may call; which domain is a company's own is its to say.
 *
 * All but `account` answer the same when they are asked again, and are 403 `account_deleted` while the account is disabled. An account that does not exist yet
 * is made together with its membership.
 */
export const SIGNUP_CALLS = {
  /** Changes nothing. `workspaces`: those that the address may join, the oldest first, at most 50. */
  account: {
    path: '/internal/v1/signup/account',
    request: z.object({ email: Email, domain: CompanyDomain }),
    response: z.object({
      account: z.object({ id: z.string(), state: z.enum(ACCOUNT_STATES) }).nullable(),
      workspaces: z.array(z.object({ id: z.string(), name: z.string() })),
    }),
  },
  /** 403 `forbidden` for every team that is not joinable, whatever it is. */
  join: {
    path: '/internal/v1/signup/join',
    request: z.object({ email: Email, domain: CompanyDomain, team_id: CallerId }),
    response: Joined,
  },
  /** One workspace a flow. Until `trial_ends_at` it is pro, which identity decides whenever it is asked; null without a trial. */
  create: {
    path: '/internal/v1/signup/create',
    request: z.object({ ...Flow, name: CreateTeam.shape.name.unwrap() }),
    response: Joined.extend({ trial_ends_at: Timestamp.nullable() }),
  },
  /** 403 `forbidden` unless the flow made a workspace whose admin has the address, and its domain is not another one yet. */
  domainJoin: {
    path: '/internal/v1/signup/domain-join',
    request: z.object({ ...Flow, domain: CompanyDomain.unwrap() }),
    response: z.object({ team_id: z.string(), domain: z.string() }),
  },
} as const;
