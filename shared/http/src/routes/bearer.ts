const TOKEN = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of the one `Authorization: Bearer` header; null when there is none, another scheme, a malformed one, or more than one header. */
export const bearerToken = (authorization: readonly string[]): string | null => {
  const [only] = authorization;
  return authorization.length === 1 && only !== undefined ? (TOKEN.exec(only)?.[1] ?? null) : null;
};
