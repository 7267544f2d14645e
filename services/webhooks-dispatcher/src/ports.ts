import type { AttemptResult } from './domain/outcome.ts';

export interface Post {
  /** Already checked in its text; the address is judged when it is dialled. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Where deliveries go. */
export interface Receiver {
  /** Never rejects: whatever happens is an outcome. Ends within the deadline. */
  post(post: Post): Promise<AttemptResult>;
  close(): Promise<void>;
}
