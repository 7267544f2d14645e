import type { ZodType } from 'zod';

/** An event between services: name, publisher, consumers (their queues are declared from this list) and payload. */
export const defineEvent = <T>(
  type: string,
  schema: ZodType<T>,
  parties: { readonly publisher: string; readonly consumers: readonly string[] },
) => ({ type, schema, ...parties });
