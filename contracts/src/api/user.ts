import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { UserId } from './ids.ts';
import { HttpsLink } from './link.ts';

export const User = z
  .object({
    id: UserId,
    email: z.string().nullable(),
    name: z.string().nullable(),
    picture_url: HttpsLink,
  })
  .meta({ id: 'User', examples: examplesOf('User') });
export type User = z.infer<typeof User>;
