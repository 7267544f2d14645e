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

/** A look at, or a way back for, what a consumer could not take. */
export interface DeadLetterCall {
  readonly deadLetters: 'list' | 'redrive';
  readonly consumer: string;
  /** All of them when null. */
  readonly limit: number | null;
}

/** The same call again for each page, until one says that there is no next one. */
export interface PagedCall {
  readonly pages: 'people' | 'redeliveries';
  readonly call: AdminCall;
}

/** Seals what services keep with their newest keys, or counts what is sealed with which key. */
export interface SealsCall {
  readonly seals: 'renew' | 'count';
  readonly services: readonly AdminCall['service'][];
}

type OperatorCall = AdminCall | DeadLetterCall | PagedCall | SealsCall;

/** What an operator typed that is no command; the message is for the terminal. */
export class UsageError extends Error {}

export type Flags = Readonly<Record<string, string | boolean | undefined>>;

export interface Command {
  /** Names of the words behind the command, in order. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, 'string' | 'boolean'>>;
  /** At least one of the flags says what to do. */
  readonly needsFlag?: boolean;
  /** Its answer holds a token that is shown this once. */
  readonly showsSecret?: boolean;
  readonly call: (words: readonly string[], flags: Flags) => OperatorCall;
}

/** Throws `UsageError` with what is wrong. */
export const checked = <T>(schema: ZodType<T>, body: unknown): T => {
  const parsed = schema.safeParse(body, ISSUE_WORDING);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
};

/** A path of words, none of which can lead elsewhere. */
export const at = (...segments: readonly (string | undefined)[]): string =>
  segments.map((segment = '') => encodeURIComponent(segment)).join('/');

export const callTo =
  (service: AdminCall['service']) =>
  (method: AdminCall['method'], path: string, body: unknown = null): AdminCall => ({ service, method, path, body });
