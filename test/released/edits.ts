interface Edit {
  readonly name: string;
  /** In each of these files (globs), everywhere: from, to. */
  readonly changes: readonly (readonly [files: string, from: string, to: string])[];
  /** What the check says; null when it has nothing against it. */
  readonly says: string | null;
  /** `npm run contracts` is asked, not `npm run contracts:breaking`. */
  readonly byPacts?: true;
}

const BUBBLE = 'contracts/src/api/bubble.ts';
const PRESENT = 'services/bubbles-query/src/adapters/http/present.ts';
const READABLE = [
  'contracts/src/internal/bubbles-query.ts',
  'services/bubbles-query/src/**/*.ts',
  'services/webhooks-dispatcher/{src,test}/**/*.ts',
  'test/contract/**/*.ts',
  'test/released/service-samples.ts',
];
const READY = [
  'contracts/src/events/service-events.ts',
  'services/bubbles-query/src/adapters/bus/events.ts',
  'services/webhooks-dispatcher/{src/adapters/bus,test}/**/*.ts',
  'test/contract/consumers/dispatcher-ready.consumer.ts',
  'test/released/service-samples.ts',
];
const everywhere = (files: readonly string[], from: string, to: string): Edit['changes'] => files.map((file) => [file, from, to] as const);

/** As an owner makes them, in one commit with the tests that hold the literal. */
export const EDITS: readonly Edit[] = [
  {
    name: 'a field of an answer is renamed',
    changes: [
      [BUBBLE, 'action_items:', 'tasks:'],
      [PRESENT, 'action_items:', 'tasks:'],
      ['contracts/src/api/examples.ts', 'action_items:', 'tasks:'],
      ['test/contract/examples.ts', 'action_items:', 'tasks:'],
      ['services/webhooks-dispatcher/src/**/*.ts', 'action_items:', 'tasks:'],
    ],
    says: 'GET /v1/bubbles/{id}, answer 200, action_items',
  },
  {
    name: 'the default of a parameter changes',
    changes: [['contracts/src/api/query.ts', 'LIMIT_DEFAULT = 25', 'LIMIT_DEFAULT = 50']],
    says: 'query parameter limit: default changed from 25 to 50',
  },
  {
    name: 'a scope is renamed',
    changes: everywhere(['{contracts,services,shared,deploy,test}/**/*.ts'], 'webhooks:manage', 'webhooks:write'),
    says: "Security scheme oauth2 requires new scopes: 'webhooks:write'",
  },
  {
    name: 'the header of the signature is renamed, where it is sent alone',
    changes: [['services/webhooks-dispatcher/src/domain/webhook-request.ts', '-Signature`]', '-Sign`]']],
    says: 'webhooks-dispatcher breaks webhook receivers: what webhooks-dispatcher delivers of an event: headerNames.X-Service-Signature',
  },
  {
    name: 'assertions get another type',
    changes: [['shared/auth/src/assertions.ts', "'assertion+jwt'", "'identity+jwt'"]],
    says: 'identity-and-oauth breaks every service: assertion: the code of now refuses it',
  },
  {
    name: 'a claim of assertions is renamed on both sides',
    changes: [
      ['shared/auth/src/assertions.ts', 'cid,', 'credential,'],
      ['shared/auth/src/assertions.ts', 'cid: z.string()', 'credential: z.string()'],
    ],
    says: 'identity-and-oauth breaks every service: assertion: ',
  },
  {
    name: 'queues get other names',
    changes: [['shared/bus/src/bus.ts', 'consumer}.$', 'consumer}/$']],
    says: 'routing.bubbles.bubble.ready.v1.queues.webhooks-dispatcher[0]',
  },
  {
    name: 'cursors get another form',
    changes: [['shared/kernel/src/cursors.ts', 'FORMAT = 1', 'FORMAT = 2']],
    says: 'a cursor of the release is refused',
  },
  {
    name: 'a unit of answers changes under the same name',
    changes: [['services/bubbles-query/src/adapters/bus/**/*.ts', 'durationSeconds: ', 'durationSeconds: 1000 * ']],
    says: 'media.duration_seconds was 45 and is 45000',
  },
  {
    name: 'a refusal gets another type',
    changes: [
      [
        'shared/http/src/routes/http-errors.ts',
        "out_of_order: { status: 409, type: 'invalid_request' }",
        "out_of_order: { status: 409, type: 'forbidden' }",
      ],
    ],
    says: 'error table: table.out_of_order.envelope.type was "invalid_request" and is "forbidden"',
  },
  {
    name: 'access tokens live for a shorter time',
    changes: [['services/identity-and-oauth/src/config.ts', ".prefault('1h')", ".prefault('10m')"]],
    says: 'lifetimes: OAUTH_ACCESS_TOKEN_LIFE was 3600000 and is 600000',
  },
  {
    name: 'a field of an internal answer is renamed on both sides, pact included',
    changes: everywhere(READABLE, 'participates', 'takes_part'),
    says: 'bubbles-query breaks webhooks-dispatcher: POST /internal/v1/readable, answer 200, answers[].participates',
  },
  {
    name: 'a field of an internal answer is renamed on both sides, pact included',
    changes: everywhere(READABLE, 'participates', 'takes_part'),
    says: 'bubbles-query of now breaks webhooks-dispatcher of release',
    byPacts: true,
  },
  {
    name: 'a field of an event is renamed on both sides, pact included',
    changes: everywhere(READY, 'author_id', 'creator_id'),
    says: 'bubbles-query of now breaks webhooks-dispatcher of release',
    byPacts: true,
  },
  {
    name: 'a second service answers with a component, in the same words',
    changes: [
      [
        'contracts/src/api/meeting-join.ts',
        "import { z } from 'zod';",
        "import { z } from 'zod';\nimport { BubblePerson } from './bubble.ts';",
      ],
      ['contracts/src/api/meeting-join.ts', '    fatal_reason: z', '    asked_by: BubblePerson.optional(),\n    fatal_reason: z'],
    ],
    says: 'meetings-bot-gateway defines the component schemas/BubblePerson, which bubbles-query owns',
  },
  {
    name: 'a field of an answer is added',
    changes: [
      [BUBBLE, '    action_items: z', '    language: z.string().nullable(),\n    action_items: z'],
      [PRESENT, '    action_items: notes', '    language: null,\n    action_items: notes'],
      ['contracts/src/api/examples.ts', 'action_items:', 'language: null,\n  action_items:'],
    ],
    says: null,
  },
  {
    name: 'a field of an event is added that its reader does not know',
    changes: [
      ['contracts/src/events/service-events.ts', '    author_id: z', '    language: z.string(),\n    author_id: z'],
      ['services/bubbles-query/src/adapters/bus/events.ts', '      author_id: author', "      language: 'en',\n      author_id: author"],
    ],
    says: null,
    byPacts: true,
  },
  {
    name: 'nothing is changed',
    changes: [],
    says: null,
  },
];
