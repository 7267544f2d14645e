import { type Markup, markup } from '@bubbles/http/routes/markup.ts';
import type { DeliveryLogEntry, DeliveryTry, Listed, Webhook } from '../../../domain/webhook.ts';
import { appPage, hidden, timeOf } from './app-page.ts';

const at = '/app/webhooks';

const timeOrNot = (time: Date | null): Markup | string => (time === null ? 'Not yet' : timeOf(time));
const stateOf = ({ disabledBecause }: Webhook): string => (disabledBecause === null ? 'Active' : `Disabled: ${words(disabledBecause)}`);
/** A reason as the API names it, for a reader. */
const words = (reason: string): string => reason.replaceAll('_', ' ');
const noticeOf = (notice: string | null): Markup | null => (notice === null ? null : markup`<p role="status">${notice}</p>`);
const moreOf = (path: string, next: string | null, name: string): Markup | null =>
  next === null ? null : markup`<p><a href="${path}?after=${encodeURIComponent(next)}">${name}</a></p>`;

const row = (webhook: Webhook): Markup => markup`<tr>
<th scope="row"><a href="${at}/${webhook.id}">${webhook.url}</a></th><td>${webhook.events.join(', ')}</td><td>${stateOf(webhook)}</td>
<td>${timeOrNot(webhook.succeededAt)}</td><td>${timeOrNot(webhook.failedAt)}</td></tr>`;

const table = (webhooks: readonly Webhook[]): Markup =>
  webhooks.length === 0
    ? markup`<p>There are none.</p>`
    : markup`<table>
<thead><tr><th scope="col">Receiver</th><th scope="col">Events</th><th scope="col">State</th><th scope="col">Last success</th><th scope="col">Last failure</th></tr></thead>
<tbody>${webhooks.map(row)}</tbody></table>`;

export const webhooksPage = ({ rows, next }: Listed<Webhook>): Markup =>
  appPage({
    at,
    title: 'Webhooks',
    main: markup`<p>Receivers that are told when a recording is ready. They are added and changed over the API, with an API key: <code>POST /v1/webhooks</code>.</p>
${table(rows)}
${moreOf(at, next, 'More webhooks')}`,
  });

const tryLine = ({ at: time, tookMs, outcome, httpStatus, detail }: DeliveryTry): Markup =>
  markup`<li>${timeOf(time)}: ${words(outcome)}${httpStatus !== null && markup` (HTTP ${httpStatus})`}, ${tookMs} ms${detail !== null && markup`. ${detail}`}</li>`;

const triesOf = ({ tries }: DeliveryLogEntry): Markup | string =>
  tries.length === 0
    ? 'None yet'
    : markup`<details><summary>${tries.length} ${tries.length === 1 ? 'attempt' : 'attempts'}</summary><ol>${tries.map(tryLine)}</ol></details>`;

const deliveryState = ({ state, cancelledBecause, nextTryAt }: DeliveryLogEntry): Markup =>
  markup`${words(state)}${cancelledBecause !== null && `: ${words(cancelledBecause)}`}${nextTryAt !== null && markup`, next attempt ${timeOf(nextTryAt)}`}`;

/** What the forms of the page are sent with. */
interface Forms {
  /** Names this showing of the page: what its forms do is done once, however often they are sent. */
  readonly form: string;
  readonly tokenForTest: string;
  readonly tokenFor: (deliveryId: string) => string;
}

const redeliverForm = (action: string, { id, state }: DeliveryLogEntry, { form, tokenFor }: Forms): Markup | null =>
  state === 'pending'
    ? null
    : markup`<form method="post" action="${action}/deliveries/${id}/redeliver">${hidden({ form, token: tokenFor(id) })}<button class="plain" aria-label="Send ${id} again">Send again</button></form>`;

const deliveriesOf = (path: string, entries: readonly DeliveryLogEntry[], forms: Forms): Markup =>
  entries.length === 0
    ? markup`<p>There are none. They are kept for 30 days.</p>`
    : markup`<table>
<thead><tr><th scope="col">Delivery</th><th scope="col">Event</th><th scope="col">State</th><th scope="col">Attempts</th><td></td></tr></thead>
<tbody>${entries.map(
        (
          entry,
        ) => markup`<tr><th scope="row">${timeOf(entry.madeAt)}<br><code>${entry.id}</code></th><td>${entry.type}</td><td>${deliveryState(entry)}</td>
<td>${triesOf(entry)}</td><td>${redeliverForm(path, entry, forms)}</td></tr>`,
      )}</tbody></table>`;

interface WebhookPageParts {
  readonly webhook: Webhook;
  readonly deliveries: Listed<DeliveryLogEntry>;
}

/** `notice` says what was just done. */
export const webhookPage = ({ webhook, deliveries }: WebhookPageParts, forms: Forms, notice: string | null): Markup => {
  const path = `${at}/${webhook.id}`;
  return appPage({
    at,
    title: 'Webhook',
    main: markup`${noticeOf(notice)}
<p><code>${webhook.url}</code></p>
<p>${stateOf(webhook)}. Events: ${webhook.events.join(', ')}.</p>
<form method="post" action="${path}/test">${hidden({ form: forms.form, token: forms.tokenForTest })}<button>Send a test</button></form>
<h2>Deliveries</h2>
${deliveriesOf(path, deliveries.rows, forms)}
${moreOf(path, deliveries.next, 'Earlier deliveries')}
<p><a href="${at}">All webhooks</a></p>`,
  });
};
