import { describe, expect, it } from '@jest/globals';
import { pactException } from '../released/compare.ts';
import { PactFile } from './pact-files.ts';
import { listen } from './recording.ts';
import { changedPacts, type ReleasedProvider, verifyAgainst } from './released.ts';
import { brokerOptions, runVerifier, withPactFiles } from './verifier.ts';

const PATH = '/internal/v1/readable';
const TYPE = 'bubbles.bubble.ready.v1';

/** A consumer that reads these fields of the answer, and of the event. */
const pactOf = (
  fields: object,
  { consumer = 'webhooks-dispatcher', description = 'a question', path = PATH, type = TYPE, request = {} } = {},
) => {
  const body = { content: fields, contentType: 'application/json', encoded: false };
  const rules = Object.fromEntries(Object.keys(fields).map((name) => [`$.${name}`, { combine: 'AND', matchers: [{ match: 'type' }] }]));
  return PactFile.parse({
    consumer: { name: consumer },
    provider: { name: 'bubbles-query' },
    interactions: [
      {
        type: 'Synchronous/HTTP',
        description,
        pending: false,
        request: { method: 'POST', path, ...request },
        response: { status: 200, headers: { 'Content-Type': ['application/json'] }, body, matchingRules: { body: rules } },
      },
      { type: 'Asynchronous/Messages', description: type, pending: false, contents: body, matchingRules: { body: rules } },
    ],
    metadata: { pactSpecification: { version: '4.0' } },
  });
};

const TEAM = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const OTHER = {
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          participates: { type: 'boolean' },
          team: { $ref: '#/components/schemas/Team' },
          tags: { type: 'array', items: { type: 'integer' } },
          channel: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        },
        required: ['team', 'tags', 'channel'],
      },
    },
  },
};
const answered = { participates: true, team_id: 'team-1' };
const released: ReleasedProvider = {
  release: 7,
  provider: 'bubbles-query',
  recorded: {
    interactions: [
      {
        ...{ consumer: 'webhooks-dispatcher', description: 'a question', states: [], method: 'POST', path: PATH },
        answer: { status: 200, headers: { 'content-type': 'application/json' }, body: answered },
      },
    ],
    messages: { [TYPE]: answered },
  },
  document: {
    paths: { [PATH]: { post: {} }, '/internal/v1/other': { post: { responses: { 200: OTHER } } } },
    components: { schemas: { Team: TEAM } },
  },
  types: [TYPE],
};

describe('a consumer of now beside a provider of a release', () => {
  it('may read less, as a new consumer too, and what nobody published yet', async () => {
    await expect(verifyAgainst(released, [pactOf({ participates: false })])).resolves.toBeUndefined();
    const added = pactOf({ team_id: 'a' }, { consumer: 'signup', description: 'another question', type: 'bubbles.bubble.ready.v2' });
    await expect(verifyAgainst(released, [added])).resolves.toBeUndefined();
  }, 60_000);

  it.each([
    ['that it does not send', { participates: true, channel_id: 'c' }, 'channel_id'],
    ['that it sends with another type', { participates: 'yes' }, 'participates'],
  ])(
    'reads no field %s',
    async (_, fields, name) => {
      const verified = verifyAgainst(released, [pactOf(fields)]);
      await expect(verified).rejects.toThrow(/^webhooks-dispatcher of now cannot read bubbles-query of release 7, which may still run:\n/);
      await expect(verified).rejects.toThrow(name);
    },
    60_000,
  );

  it.each([
    ['/internal/v1/new', 'release 7 does not serve it'],
    ['/internal/v1/other', 'release 7 does not promise answer 200, $.participates'],
    ['/internal/v1/other', 'release 7 does not promise answer 200, $.team.id with another type', { team: { id: 7 } }],
    ['/internal/v1/other', 'release 7 does not promise answer 200, $.tags[*]', { tags: ['a'] }],
  ])('asks for nothing that it does not answer: %s, %s', async (path, why, fields: object = { participates: true }) => {
    await expect(verifyAgainst(released, [pactOf(fields, { description: 'news', path })])).rejects.toThrow(
      `webhooks-dispatcher of now asks bubbles-query for POST ${path} (news): ${why}`,
    );
  });

  it('may ask for what nobody of the release asked for, as far as its document promises it', async () => {
    const asked = pactOf(
      { team: { id: 't' }, tags: [7], channel: null },
      { description: 'news', path: '/internal/v1/other', type: 'bubbles.bubble.ready.v2' },
    );
    await expect(verifyAgainst(released, [asked])).resolves.toBeUndefined();
  });
});

describe('a request of now to a provider of a release', () => {
  const schema = {
    type: 'object',
    properties: { pairs: { type: 'array', items: { type: 'string' } } },
    required: ['pairs'],
    additionalProperties: false,
  };
  const post = {
    parameters: [{ name: 'limit', in: 'query', required: true, schema: { type: 'integer', maximum: 10 } }],
    requestBody: { required: true, content: { 'application/json': { schema } } },
  };
  const strict = { ...released, document: { paths: { [PATH]: { post } } } };
  const asking = (content: object | undefined, limit: readonly string[] = ['10'], consumer = 'webhooks-dispatcher') => {
    const body = content && { body: { content, contentType: 'application/json' } };
    return [pactOf({ participates: true }, { consumer, request: { query: { limit }, ...body } })];
  };

  it('is one that the release takes', async () => {
    await expect(verifyAgainst(strict, asking({ pairs: [] }))).resolves.toBeUndefined();
  }, 60_000);

  it.each([
    ['a field that it does not know', { pairs: [], language: 'en' }, ['10'], 'language'],
    ['no field that it requires', {}, ['10'], 'pairs'],
    ['another type', { pairs: 'a' }, ['10'], '/pairs: must be array'],
    ['no body', undefined, ['10'], 'the body is missing'],
    ['more than a parameter may be', { pairs: [] }, ['11'], 'the query parameter limit'],
    ['no parameter that it requires', { pairs: [] }, [], 'the query parameter limit is missing'],
  ])('has %s', async (_, content, limit, named) => {
    const verified = verifyAgainst(strict, asking(content, limit));
    await expect(verified).rejects.toThrow('webhooks-dispatcher of now sends bubbles-query what release 7 refuses: ');
    await expect(verified).rejects.toThrow(named);
    await expect(verified).rejects.toThrow(`(POST ${PATH}, a question)`);
  });

  it('is no matter of an operator, who calls services of now', async () => {
    await expect(verifyAgainst(strict, asking({}, ['10'], 'operator'))).resolves.toBeUndefined();
  }, 60_000);
});

describe('a command of an operator', () => {
  it('may be new with the endpoint that it calls', async () => {
    const command = pactOf({ participates: true }, { consumer: 'operator', path: '/internal/v1/admin/new' });
    await expect(verifyAgainst(released, [command])).resolves.toBeUndefined();
  }, 60_000);
});

describe('the pacts of one release', () => {
  const before = [pactOf({ participates: true })];
  const exception = {
    producer: 'bubbles-query',
    change: pactException('webhooks-dispatcher'),
    reason: 'Nobody reads it.',
    untilRelease: 8,
  };

  it('are verified against the other as far as they differ', () => {
    expect(changedPacts([pactOf({ participates: true })], before, [])).toEqual([]);
    const [changed] = changedPacts([pactOf({ participates: true, team_id: 'a' })], before, []);
    expect(changed?.interactions.map(({ description }) => description)).toEqual(['a question', TYPE]);
    expect(changedPacts([pactOf({ participates: true }, { consumer: 'signup' })], before, [])).toHaveLength(1);
  });

  it('but for what is excepted', () => {
    const now = [pactOf({ team_id: 'a' })];
    const left = (place: string) => changedPacts(now, before, [{ ...exception, place }]).flatMap(({ interactions }) => interactions);
    expect(left(`POST ${PATH}`).map(({ description }) => description)).toEqual([TYPE]);
    expect(left(TYPE).map(({ description }) => description)).toEqual(['a question']);
    expect(left('POST /internal/v1/other')).toHaveLength(2);
  });
});

/** The parts of a Pact broker that the verifier uses (HAL): the pacts that a provider is to keep, and what became of them. */
const fakeBroker = async (pact: object) => {
  const results: unknown[] = [];
  const asked: unknown[] = [];
  const broker = await listen(async (request, response) => {
    const { url: path = '/', method, headers } = request;
    const base = `http://${headers.host}`;
    const body: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString() || 'null');
    const answer = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/hal+json' }).end(JSON.stringify(value));
    const provider = `${base}/pacts/provider/{provider}/for-verification`;
    if (path === '/') answer({ _links: { 'pb:provider-pacts-for-verification': { href: provider, templated: true } } });
    else if (path.endsWith('/for-verification') && method === 'GET') answer({ _links: { self: { href: `${base}${path}` } } });
    else if (path.endsWith('/for-verification')) {
      asked.push(body);
      const self = { href: `${base}/pact`, name: 'the pact' };
      answer({
        _embedded: { pacts: [{ shortDescription: 'released', verificationProperties: { pending: false, notices: [] }, _links: { self } }] },
      });
    } else if (path === '/pact')
      answer({ ...pact, _links: { self: { href: `${base}/pact` }, 'pb:publish-verification-results': { href: `${base}/results` } } });
    else if (path === '/results') {
      results.push(body);
      answer({ ...Object(body), _links: { self: { href: `${base}/results/1` } } }, 201);
    } else answer({}, 404);
  });
  return { ...broker, results, asked };
};

describe('a provider of now', () => {
  const provider = 'bubbles-query';
  const stateHandlers = {};
  const messageProviders = { [TYPE]: () => Promise.resolve(answered) };

  const serve: Parameters<typeof listen>[0] = (_, response) =>
    Promise.resolve(response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered)));

  it.each([
    ['keeps', { participates: true }, true],
    ['breaks', { participates: true, channel_id: 'c' }, false],
  ])(
    'that %s a pact gets the same verdict from files and from a broker',
    async (_, fields, isKept) => {
      const pact = pactOf(fields);
      const server = await listen(serve);
      const broker = await fakeBroker(pact);
      const options = { provider, providerBaseUrl: server.url, stateHandlers, messageProviders };
      const verdicts = await Promise.allSettled([
        withPactFiles([pact], (pactUrls) => runVerifier({ ...options, pactUrls })),
        runVerifier({ ...options, ...brokerOptions({ url: broker.url, version: 'abc' }) }),
      ]);
      await Promise.all([server.close(), broker.close()]);
      expect(verdicts.map(({ status }) => status === 'fulfilled')).toEqual([isKept, isKept]);
      expect(broker.asked).toEqual([
        expect.objectContaining({ consumerVersionSelectors: [{ mainBranch: true }, { deployedOrReleased: true }] }),
      ]);
      expect(broker.results).toEqual([expect.objectContaining({ success: isKept, providerApplicationVersion: 'abc' })]);
    },
    60_000,
  );

  it('is not verified for a version without a name', () => {
    expect(() => brokerOptions({ url: 'http://127.0.0.1:9', version: undefined })).toThrow('GIT_COMMIT');
  });
});
