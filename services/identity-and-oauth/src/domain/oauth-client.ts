/** How an OAuth client proves itself at the token endpoint. */
type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post';

/** An app that asks for access: registered (RFC 7591), or described by a document at the URL that is its id. */
export interface OAuthClient {
  readonly id: string;
  /** As the app calls itself: nobody has verified it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: ClientAuthMethod;
  /** What it may ask for. */
  readonly scopes: readonly string[];
  /** An https page about the app, or null. */
  readonly clientUri: string | null;
  /** Lower-case hex SHA-256 of the client's secret; null for a public client. */
  readonly secretHash: string | null;
  readonly issuedAt: Date;
}
