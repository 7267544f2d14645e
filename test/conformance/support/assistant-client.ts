import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';

interface ClientMetadata {
  readonly client_name: string;
  readonly redirect_uris: string[];
  readonly token_endpoint_auth_method?: string;
}

/** An assistant that keeps in memory what its MCP client library asks it to keep; the library of either generation takes it. */
export const assistantClient = (clientMetadata: ClientMetadata, clientMetadataUrl?: string) => {
  let information: StoredOAuthClientInformation | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  let sentTo: URL | null = null;
  return {
    redirectUrl: clientMetadata.redirect_uris[0],
    clientMetadata,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientInformation: () => information,
    saveClientInformation(saved: StoredOAuthClientInformation) {
      information = saved;
    },
    tokens: () => tokens,
    saveTokens(saved: StoredOAuthTokens) {
      tokens = saved;
    },
    redirectToAuthorization(url: URL) {
      sentTo = url;
    },
    saveCodeVerifier(saved: string) {
      verifier = saved;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(saved: OAuthDiscoveryState) {
      discovered = saved;
    },
    discoveryState: () => discovered,
    invalidateCredentials(what: string) {
      if (what === 'all' || what === 'client') information = undefined;
      if (what === 'all' || what === 'tokens') tokens = undefined;
    },
    /** Where it wants the user's browser. */
    sentTo(): URL {
      if (sentTo === null) throw new Error('the user is not asked');
      return sentTo;
    },
    registered(): StoredOAuthClientInformation {
      if (information === undefined) throw new Error('it is not registered');
      return information;
    },
    held(): StoredOAuthTokens {
      if (tokens === undefined) throw new Error('it has no tokens');
      return tokens;
    },
  };
};
