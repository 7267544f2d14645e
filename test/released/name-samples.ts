import { queueName } from '@bubbles/bus/bus.ts';
import { CLOUD_EVENT_TYPE } from '@bubbles/bus/cloud-event.ts';
import { deadQueueName, EVENTS_EXCHANGE } from '@bubbles/bus/operations/topology.ts';
import { budgetHeaders, budgetIn, ERROR_TYPES, RATE_LIMIT } from '@bubbles/contracts/access.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { answerOf, HTTP_ERRORS } from '@bubbles/http/routes/http-errors.ts';
import { VARIABLES } from '@bubbles/identity-and-oauth/config.ts';
import { issueKey, issueSession } from '@bubbles/identity-and-oauth/domain/token.ts';
import { DomainError, type ErrorKind } from '@bubbles/kernel/errors.ts';
import { deliveryId, eventId, newId, newSecret } from '@bubbles/webhooks-dispatcher/domain/ids.ts';
import { requestHeaders, signature } from '@bubbles/webhooks-dispatcher/domain/webhook-request.ts';
import { z } from 'zod';
import { anAccount } from '../../services/identity-and-oauth/test/builders.ts';
import { lostOf, SAMPLE_TIME, type SampleFamily } from './samples.ts';

const BUBBLE = '8b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f10';
const SUBSCRIPTION = 'wh_00000000000000000000000000';

const names: SampleFamily = {
  name: 'exchange, queues and routing keys',
  contract: 'internal',
  producer: 'the topology',
  consumers: 'publishers and consumers of events',
  make: () =>
    Promise.resolve({
      exchange: EVENTS_EXCHANGE,
      contentType: CLOUD_EVENT_TYPE,
      routing: Object.fromEntries(
        EVENTS.map(({ type, publisher, consumers }) => [
          type,
          {
            publisher,
            queues: Object.fromEntries(consumers.map((consumer) => [consumer, [queueName(consumer, type), deadQueueName(consumer)]])),
          },
        ]),
      ),
    }),
};

const ids: SampleFamily = {
  name: 'ids, keys and secrets',
  contract: 'public',
  producer: 'identity-and-oauth and webhooks-dispatcher',
  consumers: 'clients, receivers and their own replicas',
  make: ({ bytes }) => {
    const drawn = { bytes: (count: number) => Buffer.alloc(count, bytes) };
    const seed = { id: 'key-1', random: bytes, at: SAMPLE_TIME };
    const { token, key } = issueKey('first', seed);
    const session = issueSession(anAccount(), seed);
    return Promise.resolve({
      event: eventId(BUBBLE, 'bubble.ready'),
      delivery: deliveryId(eventId(BUBBLE, 'bubble.ready'), SUBSCRIPTION),
      subscription: newId('wh', drawn),
      replay: newId('rpl', drawn),
      secret: newSecret(drawn),
      key: { token, preview: key.preview, hash: key.hash },
      session: { token: session.token, hash: session.session.hash },
    });
  },
};

const signed: SampleFamily = {
  name: 'signature and headers of a delivery',
  contract: 'webhook',
  producer: 'webhooks-dispatcher',
  consumers: 'webhook receivers',
  make: () => {
    const body = Buffer.from('{"id":"evt_1"}');
    return Promise.resolve({
      signature: signature(['whsec_new', 'whsec_old'], body, SAMPLE_TIME),
      headers: requestHeaders({ headerName: 'Service', userAgent: 'sample/1' }, { id: 'dlv_1', type: 'bubble.ready' }, 'signature'),
    });
  },
};

// The keys of a literal, which `Object.keys` tells as text.
const KINDS = Object.keys(HTTP_ERRORS) as ErrorKind[];
const FORMATS = ['envelope', 'rfc6749', 'page'] as const;

const errors: SampleFamily = {
  name: 'error table',
  contract: 'public',
  producer: 'every service',
  consumers: 'public clients and the gateway',
  make: () => {
    const answered = (kind: ErrorKind, format: (typeof FORMATS)[number]) => {
      const error = new DomainError(kind, 'A sentence.', { retryAfterSeconds: 7 });
      const { status, type, contentType, headers, body } = answerOf(error, 'https://api.example.com', { format });
      return { status, type, contentType, headers, ...(format !== 'page' && { body }) };
    };
    return Promise.resolve({
      table: Object.fromEntries(KINDS.map((kind) => [kind, Object.fromEntries(FORMATS.map((format) => [format, answered(kind, format)]))])),
      types: Object.fromEntries(ERROR_TYPES.map((type) => [type, true])),
    });
  },
};

const Headers = z.object({ budget: z.record(z.string(), z.string()) });
const budget = { limit: RATE_LIMIT, remaining: 7, resetSeconds: 30 };
const rate: SampleFamily = {
  name: 'rate limit headers',
  contract: 'public',
  producer: 'identity-and-oauth',
  consumers: 'public clients and the gateway',
  make: () => Promise.resolve({ budget: budgetHeaders(budget) }),
  refusals: (sample) => {
    const headers = Object.entries(Headers.parse(sample).budget).map(([name, value]) => [name.toLowerCase(), value] as const);
    return Promise.resolve(lostOf(budget, budgetIn(Object.fromEntries(headers))));
  },
};

const lifetimes: SampleFamily = {
  name: 'lifetimes',
  contract: 'public',
  producer: 'identity-and-oauth',
  consumers: 'apps and people who are signed in',
  make: () => {
    const lasting = Object.entries(VARIABLES).filter(([name]) => /_LIFE$|_WINDOW$|^PRO_TRIAL$/.test(name));
    const session = issueSession(anAccount(), { id: 'session-1', random: Buffer.alloc(32), at: SAMPLE_TIME }).session.expiresAt;
    return Promise.resolve({
      session_ms: session.getTime() - SAMPLE_TIME.getTime(),
      ...Object.fromEntries(lasting.map(([name, variable]) => [name, variable.safeParse(undefined).data])),
    });
  },
};

export const NAME_SAMPLES: readonly SampleFamily[] = [names, ids, signed, errors, rate, lifetimes];
