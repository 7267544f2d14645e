import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { pactException } from '../released/compare.ts';
import { documentsOf, type Exception, exceptions, folderOf, isJson, type Json, runningReleases } from '../released/releases.ts';
import { everyPact, type PactFile, pactsIn } from './pact-files.ts';
import { listen, type Recorded, readRecorded } from './recording.ts';

type Interaction = PactFile['interactions'][number];

/** Written for the verifier, and gone when the work is done. */
export const withPactFiles = async <T>(pacts: readonly object[], work: (paths: readonly string[]) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'pacts-'));
  try {
    const paths = pacts.map((pact, index) => {
      const path = join(folder, `${index}.json`);
      writeFileSync(path, JSON.stringify(pact));
      return path;
    });
    return await work(paths);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

export const pathMatches = (template: string, path: string): boolean => {
  const [wanted, given] = [template.split('/'), path.split('/')];
  return wanted.length === given.length && wanted.every((step, index) => step.startsWith('{') || step === given[index]);
};

const isExcepted = ({ consumer, provider }: PactFile, { description, request }: Interaction, excepted: readonly Exception[]): boolean =>
  excepted.some(({ producer, place, change }) => {
    if (producer !== provider.name || change !== pactException(consumer.name)) return false;
    const [method, template = ''] = place.split(' ');
    return request === undefined ? place === description : method === request.method && pathMatches(template, request.path);
  });

const withoutExcepted = (pact: PactFile): PactFile => {
  const excepted = exceptions();
  return { ...pact, interactions: pact.interactions.filter((interaction) => !isExcepted(pact, interaction, excepted)) };
};

const sameParties = (left: PactFile, right: PactFile): boolean =>
  left.consumer.name === right.consumer.name && left.provider.name === right.provider.name;

interface ReleasedPact {
  readonly release: number;
  readonly pact: PactFile;
}

const releasedPacts = (release: number): readonly PactFile[] => pactsIn(join(folderOf(release), 'pacts')).map(({ pact }) => pact);

/** What consumers that may still run ask of a provider, as far as those of now do not ask the same. */
export const olderPactsOf = (provider: string): readonly ReleasedPact[] => {
  const now = everyPact().map(({ pact }) => pact);
  return runningReleases()
    .flatMap((release) => releasedPacts(release).map((pact) => ({ release, pact })))
    .filter(({ pact }) => pact.provider.name === provider && !now.some((current) => isDeepStrictEqual(current, pact)))
    .map(({ release, pact }) => ({ release, pact: withoutExcepted(pact) }))
    .filter(({ pact }) => pact.interactions.length > 0);
};

/** The pacts of now that are not those of the release: their consumers may meet its providers. */
export const newerPactsThan = (release: number): readonly PactFile[] => {
  const before = releasedPacts(release);
  return everyPact()
    .map(({ pact }) => pact)
    .filter((pact) => !before.some((released) => isDeepStrictEqual(released, pact)))
    .map((pact) => {
      const same = before.find((released) => sameParties(released, pact));
      const changed = pact.interactions.filter((one) => !same?.interactions.some((other) => isDeepStrictEqual(one, other)));
      return withoutExcepted({ ...pact, interactions: changed });
    })
    .filter(({ interactions }) => interactions.length > 0);
};

export const recordedIn = (release: number, provider: string): Recorded => {
  const path = join(folderOf(release), 'answers', `${provider}.json`);
  return existsSync(path) ? readRecorded(path) : { interactions: [], messages: {} };
};

const operationOf = (document: Json | undefined, { method, path }: { readonly method: string; readonly path: string }): unknown => {
  const paths = isJson(document?.['paths']) ? document['paths'] : {};
  const template = Object.keys(paths).find((one) => one === path) ?? Object.keys(paths).find((one) => pathMatches(one, path));
  const methods = template === undefined ? undefined : paths[template];
  return isJson(methods) ? methods[method.toLowerCase()] : undefined;
};

interface Met {
  readonly provider: string;
  /** What the provider of the release answers, by the path that the pact is given: the place in the list. */
  readonly answers: readonly Recorded['interactions'][number]['answer'][];
  readonly messages: Recorded['messages'];
  readonly pacts: readonly object[];
  /** What it has no answer for at all. */
  readonly faults: readonly string[];
}

/** What consumers of now meet at a provider of the release. */
export const metAt = (release: number, provider: string, pacts: readonly PactFile[]): Met => {
  const { interactions: recorded, messages } = recordedIn(release, provider);
  const { services, events } = documentsOf(release);
  const channels = isJson(events['channels']) ? events['channels'] : {};
  const answers: Met['answers'][number][] = [];
  const faults: string[] = [];

  const answerTo = ({ description, providerStates, request, response }: Interaction, consumer: string) => {
    const states = providerStates.map(({ name }) => name);
    const asked = recorded.filter((one) => one.description === description && isDeepStrictEqual(one.states, states));
    const status = isJson(response) ? response['status'] : undefined;
    const operation = request && operationOf(services[provider], request);
    const like = recorded.find(
      (one) => one.answer.status === status && operation !== undefined && operationOf(services[provider], one) === operation,
    );
    return asked.find((one) => one.consumer === consumer) ?? asked[0] ?? like;
  };
  const replayed = (interaction: Interaction, consumer: string): readonly object[] => {
    const { request, description, providerStates: _, ...rest } = interaction;
    // Nobody of the release publishes it, so that nobody is hurt by how it is read.
    if (request === undefined) return Object.hasOwn(channels, description) ? [{ ...rest, description, providerStates: [] }] : [];
    const found = answerTo(interaction, consumer);
    if (!found) {
      const served = operationOf(services[provider], request) !== undefined;
      const why = served ? 'has no recorded answer to it' : 'does not serve it';
      faults.push(`${consumer} of now asks ${provider} for ${request.method} ${request.path} (${description}): release ${release} ${why}.`);
      return [];
    }
    answers.push(found.answer);
    return [{ ...rest, description, request: { method: 'GET', path: `/${answers.length - 1}` } }];
  };
  const asked = pacts.map((pact) => ({ ...pact, interactions: pact.interactions.flatMap((one) => replayed(one, pact.consumer.name)) }));
  return { provider, answers, messages, faults, pacts: asked.filter(({ interactions }) => interactions.length > 0) };
};

/** A server that answers `/<place in the list>` as a provider of the release did. */
export const replay = (answers: Met['answers']) =>
  listen(({ url = '/' }, response) => {
    const answer = answers[Number(url.slice(1))];
    const body = typeof answer?.body === 'string' ? answer.body : JSON.stringify(answer?.body);
    response.writeHead(answer?.status ?? 404, answer?.headers).end(body);
  });
