import type { ZodType } from 'zod';
import type { SERVICES } from '../services.ts';

type Service = keyof typeof SERVICES;

interface EventFacts {
  /** When it is sent, and what a consumer may rely on. */
  readonly description: string;
  /** `recording-pipeline` is outside of the product. */
  readonly publisher: Service | 'recording-pipeline';
  /** The topology job declares a queue for each. */
  readonly consumers: readonly Service[];
}

/** An event between services. Its type `<owner>.<noun>.<past>.v<n>` is also the routing key. */
export const defineEvent = <T>(type: string, schema: ZodType<T>, facts: EventFacts) => ({ type, schema, ...facts });
