import type { BoundToLife } from './account.ts';

/** What a user has allowed an app. Tokens of a grant are good only while it exists; ending it ends all of them at once. */
export interface Grant extends BoundToLife {
  readonly clientId: string;
  /** As the consent page named the app. */
  readonly clientName: string;
  readonly scopes: readonly string[];
  /** Until its code is exchanged this is the end of the code, so that a grant that nobody used is soon forgotten. */
  readonly expiresAt: Date;
}

/** What codes and refresh tokens have in common. The token itself is never stored. */
interface GrantToken {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface AuthorizationCode extends GrantToken {
  readonly redirectUri: string;
  /** RFC 7636, method S256. */
  readonly challenge: string;
}

export type RefreshToken = GrantToken;
