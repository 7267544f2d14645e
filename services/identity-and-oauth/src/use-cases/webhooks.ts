import type { DeliveryLogEntry, Listed, Webhook } from '../domain/webhook.ts';
import type { Assertions, PageSession } from '../ports.ts';
import type { Webhooks } from '../webhook-ports.ts';

interface WebhookPorts {
  readonly assertions: Pick<Assertions, 'issueForPage'>;
  readonly webhooks: Webhooks;
}

interface OfSession {
  readonly session: PageSession;
}

/** Assertion of the signed-in user for the dispatcher, limited to the rights that the pages need. */
const forDispatcher = ({ assertions }: WebhookPorts, session: PageSession): Promise<string> =>
  assertions.issueForPage(session, { audience: 'webhooks-dispatcher', scopes: ['webhooks:manage'] });

export const listWebhooks =
  (ports: WebhookPorts) =>
  async ({ session, after }: OfSession & { readonly after: string | null }): Promise<Listed<Webhook>> =>
    ports.webhooks.list(await forDispatcher(ports, session), after);

interface WebhookWithLog {
  readonly webhook: Webhook;
  readonly deliveries: Listed<DeliveryLogEntry>;
}

export const readWebhook =
  (ports: WebhookPorts) =>
  async ({ session, id, after }: OfSession & { readonly id: string; readonly after: string | null }): Promise<WebhookWithLog> => {
    const assertion = await forDispatcher(ports, session);
    const [webhook, deliveries] = await Promise.all([
      ports.webhooks.get(assertion, id),
      ports.webhooks.deliveries(assertion, { webhookId: id, after }),
    ]);
    return { webhook, deliveries };
  };

export const testWebhook =
  (ports: WebhookPorts) =>
  async ({ session, ...of }: OfSession & { readonly webhookId: string; readonly form: string }): Promise<void> =>
    ports.webhooks.test(await forDispatcher(ports, session), of);

export const redeliver =
  (ports: WebhookPorts) =>
  async ({ session, ...of }: OfSession & { readonly webhookId: string; readonly id: string; readonly form: string }): Promise<void> =>
    ports.webhooks.redeliver(await forDispatcher(ports, session), of);
