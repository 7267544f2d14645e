import type { DeliveryLogEntry, Listed, Webhook } from './domain/webhook.ts';

/** The dispatcher's routes for users. The assertion names the user; a refusal rejects with the dispatcher's message. */
export interface Webhooks {
  /** Newest first. */
  list(assertion: string, after: string | null): Promise<Listed<Webhook>>;
  get(assertion: string, id: string): Promise<Webhook>;
  /** Newest first. */
  deliveries(assertion: string, of: { readonly webhookId: string; readonly after: string | null }): Promise<Listed<DeliveryLogEntry>>;
  /** Once for each form. */
  test(assertion: string, of: { readonly webhookId: string; readonly form: string }): Promise<void>;
  /** Once for each form. */
  redeliver(assertion: string, of: { readonly webhookId: string; readonly id: string; readonly form: string }): Promise<void>;
}
