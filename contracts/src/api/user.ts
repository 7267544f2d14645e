import { z } from 'zod';
import { HttpsLink } from './link.ts';

export const User = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    picture_url: HttpsLink,
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;
