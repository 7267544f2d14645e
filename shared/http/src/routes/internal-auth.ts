/** Tells which service calls an internal endpoint. */
export interface InternalAuth {
  /** The name of the calling service; rejects with `DomainError('unauthorized')`. `authorization`: every header of that name. */
  verify(authorization: readonly string[]): Promise<string>;
}

/** Service tokens for outgoing calls, one a callee. */
export interface ServiceTokens {
  /** The value of the `Authorization` header. */
  authorizationFor(audience: string): Promise<string>;
}
