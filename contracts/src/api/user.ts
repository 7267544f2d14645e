import { z } from 'zod';

export const User = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    picture_url: z.string().nullable(),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;
