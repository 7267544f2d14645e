import { z } from 'zod';

/** A person as the event names them. */
export const RecordedParticipant = z.object({
  user_id: z.string().nullable().meta({ description: 'Null for a person without an account' }),
  name: z.string().nullable().meta({ description: "As known at the time of the event; readers see the account's current name" }),
  email: z.string().nullable().meta({ description: "As known at the time of the event; readers see the account's current address" }),
  is_external: z
    .boolean()
    .meta({ description: 'Was no member of the team, in any role, when the participants were named; or has no account' }),
});

export const RecordedSegment = z.object({
  speaker: z.object({ id: z.string().nullable(), name: z.string().nullable() }).nullable(),
  text: z.string(),
  start_time_seconds: z.number().nonnegative(),
  end_time_seconds: z.number().nonnegative(),
});
