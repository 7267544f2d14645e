import { z } from 'zod';

export const TeamChannel = z.object({ id: z.string(), name: z.string().nullable() }).meta({ id: 'TeamChannel' });
export type TeamChannel = z.infer<typeof TeamChannel>;

export const Team = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    plan: z.enum(['free', 'pro']),
    role: z.enum(['admin', 'member', 'guest']).nullable().meta({ description: "The caller's role" }),
    channels: z.array(TeamChannel).meta({ description: 'The channels visible to the caller' }),
  })
  .meta({ id: 'Team' });
export type Team = z.infer<typeof Team>;
