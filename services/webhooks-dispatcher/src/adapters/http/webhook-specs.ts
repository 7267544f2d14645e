import { WebhookDelivery } from '@bubbles/contracts/api/webhook.ts';
import type { WebhookSpec } from '@bubbles/http/document/webhook-spec.ts';

type DeliveredType = WebhookDelivery['type'];

const SENT: Readonly<Record<DeliveredType, { readonly operationId: string; readonly summary: string }>> = {
  'bubble.ready': { operationId: 'onBubbleReady', summary: 'A bubble is ready' },
  'meeting_recording.ready': { operationId: 'onMeetingRecordingReady', summary: 'A meeting recording is ready' },
  'screen_recording.ready': { operationId: 'onScreenRecordingReady', summary: 'A screen recording is ready' },
  'webhook.test': { operationId: 'onWebhookTest', summary: 'A test that was asked for, with a sample bubble' },
};

const DESCRIPTION =
  'Verify the signature over the raw body before you read it. An event may come more than once, always under the same delivery id: handle each once.';

const ANSWERS = {
  '2XX': 'Received. The first 500 characters of the body are kept for the delivery log.',
  default:
    'Not received, as if nobody answered within 15 seconds or redirected. Tried again 60, 120, 240 and 480 seconds after the attempt before (a test on a disabled subscription is not); 20 failed attempts in a row disable the subscription.',
};

/** The requests that receivers get, under the names that the headers have here. */
export const webhookSpecs = (headerName: string): readonly WebhookSpec[] =>
  WebhookDelivery.shape.type.options.map((name) => ({
    name,
    ...SENT[name],
    description: DESCRIPTION,
    tag: 'Webhooks',
    headers: {
      [`X-${headerName}-Event`]: 'Type of the event.',
      [`X-${headerName}-Delivery`]: 'Id of the delivery, prefix `dlv_`, the same over all its attempts.',
      [`X-${headerName}-Signature`]:
        '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` under the whole secret of the subscription, prefix included. While a secret is being replaced there are two, `t=…,v1=<new>,v1=<old>`: one that is right is enough.',
    },
    body: WebhookDelivery,
    answers: ANSWERS,
  }));
