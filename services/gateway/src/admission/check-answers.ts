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
    /** An unknown reason from a newer identity counts as the most general one. */
    type: z.string().transform((type) => (isKnown(type) ? type : 'unauthorized')),
  }),
]);
/** A result of a newer identity: refuses this credential and does not affect the others of the batch. */
const Unknown = z.object({ h: z.string(), outcome: z.string() }).transform(({ h }) => ({ h, outcome: 'unknown' as const }));

/** The fields of identity's answer that the gateway reads. */
export const CheckAnswers = z.object({ answers: z.array(z.union([Answer, Unknown])) });
export type CheckAnswer = z.output<typeof CheckAnswers>['answers'][number];
/** Result of a credential check. */
export type CheckResult = z.output<typeof Answer>;
