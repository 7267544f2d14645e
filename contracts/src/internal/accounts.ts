import { z } from 'zod';
import { ACCOUNT_STATES } from '../access.ts';
import { HttpsLink } from '../api/link.ts';

/** The public face of an account, in the snapshot and in `identity.account.changed.v1`. A deleted account has no name, e-mail or picture. */
export const AccountFacts = z.object({
  user_id: z.string(),
  state: z.enum(ACCOUNT_STATES),
  name: z.string().nullable(),
  email: z.string().nullable(),
  picture_url: HttpsLink,
  /** Rises with every change of the account; the newest wins. */
  revision: z.int().positive(),
});
export type AccountFacts = z.infer<typeof AccountFacts>;

/** `GET /internal/v1/accounts?after=<user id>&limit=`, projections → identity: every account in order of id, to fill a projection again. */
export const AccountsSnapshot = z.object({ version: z.literal(1), accounts: z.array(AccountFacts), next_after: z.string().nullable() });
