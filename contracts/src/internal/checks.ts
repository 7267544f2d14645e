import { z } from 'zod';
import { CREDENTIAL_KINDS, CredentialRefusal } from '../access.ts';

/** `POST /internal/v1/checks`, gateway → identity: at most 256 credentials a call, answered by index. */
export const CredentialCheck = z.object({
  /** Lower-case hex SHA-256 of the token. Opaque tokens cross the wire in this form only. */
  h: z.string().regex(/^[0-9a-f]{64}$/),
  /** The token itself when it has the form of a JWT (an OAuth access token, which only its signature proves), else null. */
  jwt: z.string().max(8192).nullable(),
  /** The service that the assertion is for. */
  aud: z.string(),
  /** The kinds that the route takes; another kind is refused and not counted. */
  accepts: z.array(z.enum(CREDENTIAL_KINDS)).min(1),
  /** The request is counted elsewhere, or was when its head came: no part of the rate window is taken, and a full one does not refuse it. */
  uncounted: z.literal(true).optional(),
  /** What another replica had counted of the credential when it answered last, within the window: one that has counted less takes it over. */
  counted_elsewhere: z.object({ requests: z.int().min(0), first_ms_ago: z.int().min(0), last_ms_ago: z.int().min(0) }).optional(),
});
export type CredentialCheck = z.infer<typeof CredentialCheck>;
export type CountedElsewhere = NonNullable<CredentialCheck['counted_elsewhere']>;
export const ChecksRequest = z.object({ checks: z.array(CredentialCheck).min(1).max(256) });

const Budget = { limit: z.int(), remaining: z.int(), reset_seconds: z.int() };
export const CheckAnswer = z.discriminatedUnion('outcome', [
  z.object({ h: z.string(), outcome: z.literal('allowed'), assertion: z.string(), ...Budget }),
  z.object({ h: z.string(), outcome: z.literal('limited'), retry_after_seconds: z.int(), ...Budget }),
  z.object({ h: z.string(), outcome: z.literal('refused'), type: CredentialRefusal }),
]);
export type CheckAnswer = z.infer<typeof CheckAnswer>;
export const ChecksResponse = z.object({ answers: z.array(CheckAnswer) });
