import type { SERVICES } from '@bubbles/contracts/services.ts';
import { ISSUE_WORDING } from '@bubbles/kernel/errors.ts';
import type { ZodType } from 'zod';

/** A call of a service's internal admin API. */
export interface AdminCall {
  readonly service: keyof typeof SERVICES;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/internal/v1/admin/`. */
  readonly path: string;
  readonly body: unknown;
}

/** Lists the dead letters of a consumer, or puts them back into its queue. */
export interface DeadLetterCall {
  readonly deadLetters: 'list' | 'redrive';
  readonly consumer: string;
  /** Null means all. */
  readonly limit: number | null;
}

/** Repeats the call for each page until a page has no next one. */
export interface PagedCall {
  readonly pages: 'people' | 'redeliveries';
  readonly call: AdminCall;
}

/** Re-seals the stored values of services with their newest keys, or counts the values by key. */
export interface SealsCall {
  readonly seals: 'renew' | 'count';
  readonly services: readonly AdminCall['service'][];
}

type OperatorCall = AdminCall | DeadLetterCall | PagedCall | SealsCall;

/** The typed words are not a command; the message is for the terminal. */
export class UsageError extends Error {}

export type Flags = Readonly<Record<string, string | boolean | undefined>>;

export interface Command {
  /** Names of the positional arguments, in order. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, 'string' | 'boolean'>>;
  /** The flags without which the command is not complete. */
  readonly required?: readonly string[];
  /** The command needs at least one of its flags. */
  readonly needsFlag?: boolean;
  /** The answer holds a token that is shown only once. */
  readonly showsSecret?: boolean;
  readonly call: (words: readonly string[], flags: Flags) => OperatorCall;
}

/** Throws `UsageError` with what is wrong. */
export const checked = <T>(schema: ZodType<T>, body: unknown): T => {
  const parsed = schema.safeParse(body, ISSUE_WORDING);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
};

/** Joins words to a path and escapes each, so that no word changes the path. */
export const at = (...segments: readonly (string | undefined)[]): string =>
  segments.map((segment = '') => encodeURIComponent(segment)).join('/');

export const callTo =
  (service: AdminCall['service']) =>
  (method: AdminCall['method'], path: string, body: unknown = null): AdminCall => ({ service, method, path, body });
