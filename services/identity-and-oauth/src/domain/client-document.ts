import { DomainError } from '@bubbles/kernel/errors.ts';
import { clientMetadata, type OAuthClient } from './oauth-client.ts';

/** Whether such a client is described by a document there. No id of a registered client has a colon. */
export const isDocumentUrl = (clientId: string): boolean => /^https?:\/\//.test(clientId);

const refused = (message: string): DomainError => new DomainError('invalid', message, { type: 'invalid_client_metadata' });

/** There is nobody to share a secret with (section 4.1 of draft-ietf-oauth-client-id-metadata-document). */
const SECRETS = ['client_secret', 'client_secret_expires_at'] as const;

/** The client that the metadata document at `id` describes, by the rules of a registration. Keys in it are not read: such a client is public. */
export const clientOfDocument = (id: string, fields: Readonly<Record<string, unknown>>, at: Date): OAuthClient => {
  if (fields['client_id'] !== id)
    throw refused('client_id: the metadata document must name its own URL as client_id, character by character');
  const secret = SECRETS.find((name) => name in fields);
  if (secret !== undefined) throw refused(`${secret}: may not stand in a metadata document`);
  const method = fields['token_endpoint_auth_method'] ?? 'none';
  if (method !== 'none') throw refused('token_endpoint_auth_method: must be none in a metadata document');
  return { ...clientMetadata({ ...fields, token_endpoint_auth_method: method }), id, secretHash: null, issuedAt: at };
};
