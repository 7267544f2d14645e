import type { ZodType } from 'zod';

/** An event between services: name, publisher, consumers (their queues are declared from this list) and payload. */
export interface EventContract<T> {
  readonly type: string;
  readonly publisher: string;
  readonly consumers: readonly string[];
  readonly schema: ZodType<T>;
}

export const defineEvent = <T>(
  type: string,
  schema: ZodType<T>,
  parties: { readonly publisher: string; readonly consumers: readonly string[] },
): EventContract<T> => ({ type, schema, ...parties });
