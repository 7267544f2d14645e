import { z } from 'zod';

/** In the order of their start: who is asked before who asks. */
export const SERVICES = ['identity-and-oauth', 'bubbles-query', 'webhooks-dispatcher', 'gateway'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** What a stack is made of, and where. */
export const StackLayout = z.object({
  /** The first of a row of ports on loopback. */
  port: z.int(),
  amqpUrl: z.string(),
  mongoUrl: z.string(),
  /** Before the names of the databases, so that stacks can share a store. */
  databasePrefix: z.string(),
  replicas: z.record(z.enum(SERVICES), z.int()),
  /** How long a process that is told to end goes on serving those who have not noticed. */
  drainNotice: z.string(),
  /** Whether a process that cannot keep up refuses. */
  shedding: z.boolean(),
  /** The dispatcher's `WEBHOOK_*` variables. */
  webhooks: z.record(z.string(), z.string()),
});
export type StackLayout = z.infer<typeof StackLayout>;

export const USUAL_REPLICAS: StackLayout['replicas'] = {
  'identity-and-oauth': 2,
  'bubbles-query': 2,
  'webhooks-dispatcher': 2,
  gateway: 2,
};
