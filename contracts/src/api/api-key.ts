import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { displayName, Timestamp } from './fields.ts';
import { ApiKeyId } from './ids.ts';

const NAME_MAX_CHARACTERS = 100;

export const CreateApiKeyRequest = z
  .object({ name: displayName(NAME_MAX_CHARACTERS) })
  .meta({ id: 'CreateApiKeyRequest', examples: examplesOf('CreateApiKeyRequest') });
export type CreateApiKeyRequest = z.infer<typeof CreateApiKeyRequest>;

export const ApiKeySummary = z
  .object({
    id: ApiKeyId,
    name: z.string(),
    token_preview: z.string().meta({ description: 'The prefix and the first characters, then an ellipsis', examples: ['svc_pat_Ab3x…'] }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'ApiKeySummary', examples: examplesOf('ApiKeySummary') });
export type ApiKeySummary = z.infer<typeof ApiKeySummary>;

export const ApiKeyCreated = ApiKeySummary.omit({ last_used_at: true })
  .extend({
    token: z.string().meta({ description: 'The personal access token in full, shown this once', pattern: '^svc_pat_[A-Za-z0-9_-]{43}$' }),
  })
  .meta({ id: 'ApiKeyCreated', examples: examplesOf('ApiKeyCreated') });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

export const ApiKeyList = z.object({ data: z.array(ApiKeySummary) }).meta({ id: 'ApiKeyList', examples: examplesOf('ApiKeyList') });
export type ApiKeyList = z.infer<typeof ApiKeyList>;
