import { globSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { changesBetween } from './changes.ts';
import { type Fault, faultsAmong, REMEDIES } from './judge.ts';
import { type Documents, type Exception, folderOf, isJson, type Json, readJson } from './releases.ts';
import { valueAt } from './spots.ts';

/** A fault with whose contract it is. Only the first two kinds may be excepted. */
export interface Break extends Fault {
  readonly contract: 'internal' | 'event' | 'public' | 'webhook';
  readonly producer: string;
  readonly consumers: readonly string[];
}

const Rules = z.record(z.string(), z.object({ matchers: z.array(z.object({ match: z.string(), regex: z.string().optional() })) }));
const Rated = z.object({ matchingRules: z.object({ body: Rules.default({}) }).default({ body: {} }) });
const ReleasedPact = z.object({
  consumer: z.object({ name: z.string() }),
  provider: z.object({ name: z.string() }),
  interactions: z.array(
    Rated.extend({
      description: z.string(),
      /** Absent of a message, whose description is its type. */
      request: z.object({ method: z.string(), path: z.string() }).optional(),
      response: Rated.optional(),
    }),
  ),
});
type Interaction = z.infer<typeof ReleasedPact>['interactions'][number];

/** Who relies on services of a release, and how. */
export interface Readers {
  /** Who called an internal endpoint. */
  callers(provider: string, place: string): readonly string[];
  /** Whether each of them takes these values in this field, or does not read it. */
  take(provider: string, place: string, field: string, values: readonly string[]): boolean;
}

const isAt = (place: string, { request, description }: Interaction): boolean => {
  if (request === undefined) return description === place;
  const [method = '', template = ''] = place.split(' ');
  const pattern = template.split('/').map((part) => (part.startsWith('{') ? '[^/]+' : part.replaceAll('.', String.raw`\.`)));
  return request.method === method && new RegExp(`^${pattern.join('/')}$`).test(request.path);
};

/** `answer 200, answers[].state` is `$.answers[*].state` of a body. */
const pathOf = (field: string): string => `$.${field.replace(/^answer \d+, /, '').replaceAll('[]', '[*]')}`;

const takes = ({ matchingRules, response }: Interaction, path: string, values: readonly string[]): boolean => {
  const matchers = (response ?? { matchingRules }).matchingRules.body[path]?.matchers ?? [];
  const narrow = matchers.filter(({ match }) => match === 'regex' || match === 'equality');
  return narrow.every(({ regex }) => regex !== undefined && values.every((value) => new RegExp(`^(?:${regex})$`).test(value)));
};

/** By its pacts. */
export const readersIn = (release: number): Readers => {
  const folder = join(folderOf(release), 'pacts');
  const pacts = globSync('*.json', { cwd: folder })
    .sort()
    .map((name) => ReleasedPact.parse(readJson(join(folder, name))));
  const readings = (of: string, place: string) =>
    pacts
      .filter(({ provider }) => provider.name === of)
      .flatMap(({ consumer, interactions }) =>
        interactions.filter((interaction) => isAt(place, interaction)).map((interaction) => ({ consumer: consumer.name, interaction })),
      );
  return {
    callers: (of, place) => [...new Set(readings(of, place).map(({ consumer }) => consumer))],
    take: (of, place, field, values) => readings(of, place).every(({ interaction }) => takes(interaction, pathOf(field), values)),
  };
};

const isInternal = (place: string): boolean => place.includes(' /internal/');
const ownerOf = (place: string, services: Documents['services']): string => {
  const [method = '', path = ''] = place.split(' ');
  const owns = (document: Json): boolean =>
    valueAt(document, ['paths', path, method.toLowerCase()]) !== undefined ||
    valueAt(document, ['paths', place]) !== undefined ||
    valueAt(document, ['webhooks', place]) !== undefined;
  return Object.entries(services).find(([, document]) => owns(document))?.[0] ?? 'gateway';
};

interface Compared {
  /** Of a release that may still run, with its readers. */
  readonly base: Documents;
  readonly readers: Readers;
  readonly revision: Documents;
  readonly today: string;
}

const publicBreaks = async ({ base, revision, today }: Compared): Promise<readonly Break[]> => {
  const pair = { base: base.merged, revision: revision.merged, today };
  const webhooks = isJson(base.merged['webhooks']) ? Object.keys(base.merged['webhooks']) : [];
  return faultsAmong(await changesBetween(pair.base, pair.revision), pair).map((fault) => {
    const isWebhook = webhooks.includes(fault.place);
    return {
      ...fault,
      contract: isWebhook ? 'webhook' : 'public',
      producer: ownerOf(fault.place, base.services),
      consumers: [isWebhook ? 'webhook receivers' : 'public clients'],
    };
  });
};

const isMark = ({ change }: Fault): boolean => change.startsWith('the mark x-gw-');

/** The routes that the public document leaves out, and what the gateway is told of each. */
const internalBreaks = async ({ base, revision, readers, today }: Compared): Promise<readonly Break[]> => {
  const isDocumented = (place: string) => {
    const [method = '', path = ''] = place.split(' ');
    return (
      valueAt(base.merged, ['paths', path, method.toLowerCase()]) !== undefined || valueAt(base.merged, ['webhooks', place]) !== undefined
    );
  };
  const ofService = async ([producer, document]: readonly [string, Json]): Promise<readonly Break[]> => {
    const now = revision.services[producer];
    if (now === undefined) {
      const gone: Fault = { place: producer, field: '', change: 'the service is gone', remedy: 'route' };
      return [{ ...gone, contract: 'internal', producer, consumers: ['gateway'] }];
    }
    const pair = { base: document, revision: now, today };
    return faultsAmong(await changesBetween(document, now), pair)
      .filter((fault) => isMark(fault) || (/^([A-Z]+ )?\//.test(fault.place) && !isDocumented(fault.place)))
      .map((fault): Break => {
        const called = readers.callers(producer, fault.place);
        const others = isInternal(fault.place) ? 'the services and operators that call it' : 'browsers and providers that call it';
        return { ...fault, contract: 'internal', producer, consumers: isMark(fault) ? ['gateway'] : called.length > 0 ? called : [others] };
      });
  };
  return (await Promise.all(Object.entries(base.services).map(ofService))).flat();
};

const eventBreaks = async ({ base, revision, today }: Compared): Promise<readonly Break[]> => {
  const pair = { base: base.events, revision: revision.events, today };
  return faultsAmong(await changesBetween(pair.base, pair.revision), pair).map((fault) => {
    const consumers = valueAt(base.events, ['channels', fault.place, 'x-consumers']);
    const names = Array.isArray(consumers) ? consumers.map(String) : [];
    return {
      ...fault,
      contract: 'event',
      producer: String(valueAt(base.events, ['channels', fault.place, 'x-publisher']) ?? 'the publisher'),
      consumers: names.length > 0 ? names : ['its consumers'],
    };
  });
};

/** Readers of what is between services say in their pacts which values they take. */
const areTaken = ({ contract, producer, place, field, gained }: Break, readers: Readers): boolean =>
  gained !== undefined && (contract === 'event' || contract === 'internal') && readers.take(producer, place, field, gained);

/** What of `revision` breaks who relies on `base`. */
export const breaksBetween = async (compared: Compared): Promise<readonly Break[]> => {
  const found = await Promise.all([publicBreaks(compared), internalBreaks(compared), eventBreaks(compared)]);
  return found.flat().filter((one) => !areTaken(one, compared.readers));
};

/** The producer, the consumers, the place and the change. */
export const told = ({ producer, consumers, place, field, change }: Break): string =>
  `${producer} breaks ${consumers.join(', ')}: ${[place, field].filter((part) => part !== '').join(', ')}: ${change.replace(/\.$/, '')}.`;

/** All of it, by what is to be done. */
export const report = (found: readonly Break[], release: number): readonly string[] =>
  [...Map.groupBy(found, ({ remedy }) => remedy)].flatMap(([remedy, breaks]) => [
    ...breaks.map(told),
    `  Release ${release} may still run with ${breaks.length === 1 ? 'it' : `these ${breaks.length}`}. ${REMEDIES[remedy]}`,
  ]);

const isMeant = (found: Break, { producer, place, change }: Exception): boolean =>
  found.producer === producer && found.place === place && found.change === change;
const mayBeExcepted = ({ contract }: Break): boolean => contract === 'internal' || contract === 'event';
/** A public route, whatever of it. */
const PUBLIC_PLACE = /^(?:[A-Z]+ )?\/(?!internal\/)/;

/** An exception that the verification of pacts needs, not the comparison of documents. */
export const pactException = (consumer: string): string => `the pact of ${consumer}`;
const isOfPacts = ({ change }: Exception): boolean => change.startsWith(pactException(''));

interface Judged {
  readonly left: readonly Break[];
  /** What is wrong with the exceptions themselves. */
  readonly refused: readonly string[];
}

/** Takes what is excepted out of what was found, for the release that is made next. */
export const withoutExcepted = (found: readonly Break[], excepted: readonly Exception[], nextRelease: number): Judged => {
  const faultOf = (exception: Exception): string | null => {
    const { producer, place, change, untilRelease } = exception;
    const named = `The exception for ${producer}, ${place}: ${change}`;
    const meant = found.filter((one) => isMeant(one, exception));
    if (PUBLIC_PLACE.test(place) || !meant.every(mayBeExcepted))
      return `${named} is refused: there are none for clients and receivers, only for internal endpoints, events and what services pass each other.`;
    if (untilRelease < nextRelease) return `${named} held until release ${untilRelease}: undo the change or remove the exception.`;
    return meant.length === 0 && !isOfPacts(exception) ? `${named} is needed no more: remove it.` : null;
  };
  const faults = new Map(excepted.map((exception) => [exception, faultOf(exception)]));
  const holding = excepted.filter((exception) => faults.get(exception) === null);
  return {
    left: found.filter((one) => !holding.some((exception) => isMeant(one, exception))),
    refused: [...faults.values()].filter((fault) => fault !== null),
  };
};
