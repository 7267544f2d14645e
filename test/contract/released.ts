import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { OPERATOR } from '@bubbles/contracts/services.ts';
import { pactException } from '../released/compare.ts';
import { documentsOf, type Exception, exceptions, folderOf, isJson, type Json, runningReleases } from '../released/releases.ts';
import { everyPact, type PactFile, pactsIn } from './pact-files.ts';
import { unpromised } from './promises.ts';
import { listen, type Recorded, readRecorded } from './recording.ts';
import { pathMatches, reachedBy, requestFaults } from './requests.ts';
import { runVerifier, withPactFiles } from './verifier.ts';

type Interaction = PactFile['interactions'][number];

const isExcepted = ({ consumer, provider }: PactFile, { description, request }: Interaction, excepted: readonly Exception[]): boolean =>
  excepted.some(({ producer, place, change }) => {
    if (producer !== provider.name || change !== pactException(consumer.name)) return false;
    const [method, template = ''] = place.split(' ');
    return request === undefined ? place === description : method === request.method && pathMatches(template, request.path);
  });

const withoutExcepted = (pact: PactFile, excepted: readonly Exception[]): PactFile => ({
  ...pact,
  interactions: pact.interactions.filter((interaction) => !isExcepted(pact, interaction, excepted)),
});

const sameParties = (left: PactFile, right: PactFile): boolean =>
  left.consumer.name === right.consumer.name && left.provider.name === right.provider.name;

/** What of `pacts` is not in `others`, and not excepted: all else was verified when those were. */
export const changedPacts = (
  pacts: readonly PactFile[],
  others: readonly PactFile[],
  excepted: readonly Exception[],
): readonly PactFile[] =>
  pacts
    .map((pact) => {
      const same = others.find((other) => sameParties(other, pact));
      const changed = pact.interactions.filter((one) => !same?.interactions.some((other) => isDeepStrictEqual(one, other)));
      return withoutExcepted({ ...pact, interactions: changed }, excepted);
    })
    .filter(({ interactions }) => interactions.length > 0);

interface OlderPact {
  readonly release: number;
  readonly pact: PactFile;
}

const currentPacts = (): readonly PactFile[] => everyPact().map(({ pact }) => pact);
const releasedPacts = (release: number): readonly PactFile[] => pactsIn(join(folderOf(release), 'pacts')).map(({ pact }) => pact);

/** What consumers that may still run ask of a provider, as far as those of now do not ask the same. */
export const olderPactsOf = (provider: string): readonly OlderPact[] =>
  runningReleases().flatMap((release) =>
    changedPacts(releasedPacts(release), currentPacts(), exceptions())
      .filter((pact) => pact.provider.name === provider)
      .map((pact) => ({ release, pact })),
  );

const recordedIn = (release: number, provider: string): Recorded => {
  const path = join(folderOf(release), 'answers', `${provider}.json`);
  return existsSync(path) ? readRecorded(path) : { interactions: [], messages: {} };
};

/** A provider as it was released. */
export interface ReleasedProvider {
  readonly release: number;
  readonly provider: string;
  readonly recorded: Recorded;
  /** Its OpenAPI document; undefined when it serves nothing. */
  readonly document: Json | undefined;
  /** Of all events that are published. */
  readonly types: readonly string[];
}

const operationOf = (...asked: Parameters<typeof reachedBy>): Json | undefined => reachedBy(...asked)?.operation;

const BAD_REQUEST = 400;

/** Nobody of the release asked for this answer: its document is all that is known of it. */
const unknownOf = (reached: ReturnType<typeof reachedBy>, response: unknown): readonly string[] =>
  reached === null
    ? ['does not serve it']
    : unpromised(reached.document, reached.operation, response).map((lacking) => `does not promise ${lacking}`);

interface Met {
  /** What the provider of the release answers, by the path that the pact is given: the place in the list. */
  readonly answers: readonly Recorded['interactions'][number]['answer'][];
  readonly pacts: readonly object[];
  /** What it has no answer for at all. */
  readonly faults: readonly string[];
}

/** What consumers of now meet there. */
const metAt = ({ release, provider, recorded, document, types }: ReleasedProvider, pacts: readonly PactFile[]): Met => {
  const answers: Met['answers'][number][] = [];
  const faults: string[] = [];

  const answerTo = ({ description, providerStates, request, response }: Interaction, consumer: string) => {
    const states = providerStates.map(({ name }) => name);
    const asked = recorded.interactions.filter((one) => one.description === description && isDeepStrictEqual(one.states, states));
    const status = isJson(response) ? response['status'] : undefined;
    const operation = request && operationOf(document, request);
    const like = recorded.interactions.find(
      (one) => one.answer.status === status && operation !== undefined && operationOf(document, one) === operation,
    );
    return asked.find((one) => one.consumer === consumer) ?? asked[0] ?? like;
  };
  /** A request that is meant to be refused may break the rules. */
  const refusedOf = ({ request, response }: Interaction): readonly string[] => {
    const reached = request === undefined ? null : reachedBy(document, request);
    const isWelcome = isJson(response) && Number(response['status']) < BAD_REQUEST;
    return request !== undefined && reached !== null && isWelcome ? requestFaults(reached, request) : [];
  };
  const replayed = (interaction: Interaction, consumer: string): readonly object[] => {
    const { request, description, providerStates: _, ...rest } = interaction;
    // What nobody of the release publishes, nobody reads amiss.
    if (request === undefined) return types.includes(description) ? [{ ...rest, description, providerStates: [] }] : [];
    const found = answerTo(interaction, consumer);
    if (!found) {
      // A person runs a command of now once the services of now run.
      if (consumer === OPERATOR) return [];
      for (const why of unknownOf(reachedBy(document, request), interaction['response']))
        faults.push(
          `${consumer} of now asks ${provider} for ${request.method} ${request.path} (${description}): release ${release} ${why}.`,
        );
    }
    for (const fault of consumer === OPERATOR ? [] : refusedOf(interaction))
      faults.push(
        `${consumer} of now sends ${provider} what release ${release} refuses: ${fault} (${request.method} ${request.path}, ${description}).`,
      );
    if (!found) return [];
    answers.push(found.answer);
    return [{ ...rest, description, request: { method: 'GET', path: `/${answers.length - 1}` } }];
  };
  const asked = pacts.map((pact) => ({ ...pact, interactions: pact.interactions.flatMap((one) => replayed(one, pact.consumer.name)) }));
  return { answers, faults, pacts: asked.filter(({ interactions }) => interactions.length > 0) };
};

/** A server that answers `/<place in the list>` as a provider of the release did. */
const replay = (answers: Met['answers']) =>
  listen(({ url = '/' }, response) => {
    const answer = answers[Number(url.slice(1))];
    const body = typeof answer?.body === 'string' ? answer.body : JSON.stringify(answer?.body);
    return Promise.resolve(response.writeHead(answer?.status ?? 404, answer?.headers).end(body));
  });

/** Rejects unless these pacts hold with what the provider of a release answered and published. */
export const verifyAgainst = async (released: ReleasedProvider, pacts: readonly PactFile[]): Promise<void> => {
  const { release, provider, recorded } = released;
  const { answers, faults, pacts: asked } = metAt(released, pacts);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  if (asked.length === 0) return;
  const server = await replay(answers);
  const messageProviders = Object.fromEntries(
    Object.entries(recorded.messages).map(([type, message]) => [type, () => Promise.resolve(message)]),
  );
  try {
    await withPactFiles(asked, (pactUrls) =>
      runVerifier({ provider, providerBaseUrl: server.url, stateHandlers: {}, messageProviders, pactUrls }),
    );
  } catch (cause) {
    const consumers = pacts.map(({ consumer }) => consumer.name).join(', ');
    const words = Error.isError(cause) ? cause.message : String(cause);
    throw new Error(`${consumers} of now cannot read ${provider} of release ${release}, which may still run:\n${words}`, { cause });
  } finally {
    await server.close();
  }
};

/** Consumers of now beside the providers of a release. */
export const verifyNewer = async (release: number): Promise<void> => {
  const { services, events } = documentsOf(release);
  const types = Object.keys(isJson(events['channels']) ? events['channels'] : {});
  const changed = changedPacts(currentPacts(), releasedPacts(release), exceptions());
  for (const [provider, pacts] of Map.groupBy(changed, (pact) => pact.provider.name)) {
    const recorded = recordedIn(release, provider);
    await verifyAgainst({ release, provider, recorded, document: services[provider], types }, pacts);
  }
};
