import { CREDENTIAL_REFUSALS, type CredentialRefusal } from '@bubbles/contracts/access.ts';
import { z } from 'zod';

const isKnown = (type: string): type is CredentialRefusal => Object.hasOwn(CREDENTIAL_REFUSALS, type);
const Budget = { limit: z.int(), remaining: z.int(), reset_seconds: z.int() };

const Answer = z.discriminatedUnion('outcome', [
  z.object({ h: z.string(), outcome: z.literal('allowed'), assertion: z.string(), ...Budget }),
  z.object({ h: z.string(), outcome: z.literal('limited'), retry_after_seconds: z.int(), ...Budget }),
  z.object({
    h: z.string(),
    outcome: z.literal('refused'),
    /** A reason that is newer than this release is told as the plainest one. */
    type: z.string().transform((type) => (isKnown(type) ? type : 'unauthorized')),
  }),
]);
/** Of a newer release of identity: it lets nobody in, and is no matter to the other credentials of the call. */
const Unknown = z.object({ h: z.string(), outcome: z.string() }).transform(({ h }) => ({ h, outcome: 'unknown' as const }));

/** What the gateway reads of identity's answer about credentials. */
export const CheckAnswers = z.object({ answers: z.array(z.union([Answer, Unknown])) });
export type CheckAnswer = z.output<typeof CheckAnswers>['answers'][number];
/** What is decided about a credential. */
export type CheckResult = z.output<typeof Answer>;
