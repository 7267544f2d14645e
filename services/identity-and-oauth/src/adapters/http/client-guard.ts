import type { Guard } from '@bubbles/http/routes/guard.ts';
import { networkOf } from '@bubbles/http/wire/connections.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { AuthenticatedClient } from '../../domain/oauth-client.ts';
import type { RequestLimit } from '../../ports.ts';

const MAX_ID = 2048;

/** What every form of a client has, and what its guard reads. */
export const ClientInBody = z.object({
  client_id: z.string().max(MAX_ID).optional().meta({ description: 'Of the client, opaque; unless the Authorization header has it' }),
  client_secret: z.string().max(512).optional().meta({ description: 'Of a confidential client, unless the Authorization header has it' }),
});

type ClientCredentials = Parameters<App['authenticateClient']>[0];

interface ClientGuardOptions {
  readonly app: Pick<App, 'authenticateClient'>;
  readonly limit: RequestLimit;
}

/** An OAuth client. A confidential one proves itself with its secret, in the Authorization header (Basic) or in the body. */
export const oauthClient = ({ app, limit }: ClientGuardOptions): Guard<{ readonly client: AuthenticatedClient }> => ({
  security: [],
  gatewayMark: 'none',
  callers: null,
  isCounted: false,
  refusals: ['unauthorized', 'rate_limited'],
  reads: 'Authorization',
  admit: async ({ header, body, clientAddress, answerWith }) => {
    const credentials = credentialsIn(header('authorization'), ClientInBody.parse(await body()));
    limit.take(credentials.clientId ?? '', networkOf(clientAddress()));
    try {
      return { client: await app.authenticateClient(credentials) };
    } catch (error) {
      if (isDomainError(error) && error.kind === 'unauthorized') answerWith('WWW-Authenticate', 'Basic realm="oauth"');
      throw error;
    }
  },
});

const invalid = (message: string) => new DomainError('invalid', message);

const credentialsIn = (authorization: readonly string[], inBody: z.infer<typeof ClientInBody>): ClientCredentials => {
  // RFC 6749, 3.2: a parameter without a value was not sent.
  const clientId = inBody.client_id || null;
  const secret = inBody.client_secret || null;
  const [header, ...others] = authorization;
  if (header === undefined) return { clientId, secret, inHeader: false };
  if (others.length > 0) throw invalid('Authorization: may be given once');
  const [, encoded] = BASIC.exec(header) ?? [];
  // Another scheme proves nothing here.
  if (encoded === undefined) return { clientId: null, secret: null, inHeader: true };
  if (secret !== null) throw invalid('client_secret: must not be sent both in the Authorization header and in the body');
  const basic = basicCredentials(encoded);
  if (clientId !== null && clientId !== basic.clientId) throw invalid('client_id: must be the one of the Authorization header');
  return basic;
};

const BASIC = /^basic(?= |$) *(.*)$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** RFC 6749, 2.3.1: both are percent-encoded as in a form. */
const basicCredentials = (encoded: string): ClientCredentials & { readonly clientId: string } => {
  const text = BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString() : '';
  const at = text.indexOf(':');
  const clientId = formDecoded(text.slice(0, Math.max(0, at)));
  const secret = formDecoded(text.slice(at + 1));
  if (!clientId || clientId.length > MAX_ID || secret === null) throw invalid('Authorization: malformed Basic credentials');
  return { clientId, secret, inHeader: true };
};

const formDecoded = (encoded: string): string | null => {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return null;
  }
};
