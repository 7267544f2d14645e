import type { DomainError } from '@bubbles/kernel/errors.ts';
import type { Caller, CredentialKind } from './route.ts';

/** What a request shows of itself; header values as sent, null when absent. */
export interface Presented {
  /** Every `Authorization` header of the request: two of them are a refusal. */
  readonly authorization: readonly string[];
  /** `X-Internal-Assertion`, which identity signed for this service. */
  readonly assertion: string | null;
  readonly accepts: readonly CredentialKind[];
}

export type Admission =
  | { readonly caller: Caller; readonly headers: Readonly<Record<string, string>> }
  | { readonly refusal: DomainError; readonly headers: Readonly<Record<string, string>> };

/** Tells who calls. Identity reads the credential itself; every other service verifies the assertion. `headers` go on the answer either way (RateLimit). */
export interface Authenticator {
  admit(presented: Presented): Promise<Admission>;
}
