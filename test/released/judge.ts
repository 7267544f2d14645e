import type { Change } from './changes.ts';
import { isJson, type Json } from './releases.ts';
import { METHODS, type Pair, type Spot, spotOf, stepsOf, valueAt } from './spots.ts';

/** A change that a reader of what was released does not survive. */
export interface Fault {
  /** `GET /v1/bubbles`, `bubble.ready`, `bubbles.bubble.ready.v1`, or where else in the document. */
  readonly place: string;
  /** Within it: `query parameter limit`, `answer 200, data[].title`; empty for the whole of it. */
  readonly field: string;
  readonly change: string;
  readonly remedy: keyof typeof REMEDIES;
  /** What an enumeration may be now and was not before. */
  readonly gained?: readonly string[];
}

/** What to do instead. */
export const REMEDIES = {
  keep: 'Keep it, add the new one beside it, announce the end of the old one with `deprecated`, and remove it after its sunset.',
  beside: 'Leave it as it is and add a field or parameter beside it that has the new form.',
  accept: 'Go on accepting what was accepted; let who wants the new rule ask for it with a new optional field or parameter.',
  say: 'Go on doing what was said, and say it in the same words; what is new gets a field or parameter of its own.',
  grant: 'Go on letting in who was let in; a new right gets a new route or an optional parameter.',
  event: 'Publish the next version (`….v2`) beside this one until no release that reads this one may run.',
  bytes: 'Go on writing and reading what was written; start to write another form in the release after the one that reads it.',
  route: 'Go on declaring and filling what was declared, beside the new name, until no release that uses it may run.',
} as const;

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
const sentence = (text: string): string => text.replaceAll('`', '').replace(/\.$/, '');

const UNITS =
  /\b(?:milli|micro)?seconds?\b|\b(?:minute|hour|day|week)s?\b|\b(?:kilo|mega)?bytes?\b|\bcharacters?\b|\bUTC\b|\bUnix\b|\bISO-8601\b|\bper ?cent\b/gi;
const ORDER = /\b(?:newest|oldest|highest|lowest) (?:first|last)\b|\bin (?:the )?order\b|\brelevance\b|\b(?:ex|in)clusive\b|\bopaque\b/gi;
const AMOUNTS = /\b\d+(?:[.,]\d+)?\b/g;
const CODE = /`[^`]{1,60}`/g;

/** What a description promises beyond the schema: units, order, bounds, amounts, and the values in backquotes. */
const promisesIn = (text: unknown): readonly string[] =>
  typeof text !== 'string'
    ? []
    : [UNITS, ORDER, AMOUNTS, CODE]
        .flatMap((pattern) => text.match(pattern) ?? [])
        .map((word) => word.toLowerCase().replace(/([a-z])s$/, '$1'));

const lostPromises = ({ base, revision }: Change): readonly string[] => {
  const left = [...promisesIn(revision?.value)];
  return promisesIn(base?.value).filter((word) => {
    const index = left.indexOf(word);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
};

const GATEWAY_LIMITS = ['x-gw-body-limit', 'x-gw-timeout'];

/** A larger body or a longer wait takes nothing from anybody. */
const isLoosened = ({ property = '', base, revision }: Change): boolean =>
  GATEWAY_LIMITS.includes(property) && Number(base?.value) < Number(revision?.value);

type Finding = Omit<Fault, keyof Spot>;
type Rule = (change: Change, pair: Pair, area: string) => Finding | null;

const modified = ({ property = '', base, revision }: Change): string =>
  `${property} changed from ${shown(base?.value)} to ${shown(revision?.value)}`;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const lost = ({ base, revision }: Change): readonly unknown[] =>
  listOf(base?.value).filter((value) => !listOf(revision?.value).includes(value));

const gained = ({ base, revision }: Change): readonly unknown[] =>
  listOf(revision?.value).filter((value) => !listOf(base?.value).includes(value));

/** What the tool rates as harmless, or has no rule for. */
const OWN_RULES: readonly Rule[] = [
  (change, _, area) => (change.property === 'default' && area !== 'info' ? { change: modified(change), remedy: 'accept' } : null),
  (change) => {
    if (change.property !== 'enum' || lost(change).length === 0) return null;
    return { change: `the enumeration lost ${lost(change).map(shown).join(', ')}`, remedy: 'keep' };
  },
  ({ property, base, revision }) => {
    if (property !== 'x-sunset' || base?.value === undefined || String(base.value) <= String(revision?.value ?? '')) return null;
    return { change: `it works until ${shown(revision?.value)}, and was to work until ${shown(base.value)}`, remedy: 'say' };
  },
  ({ kind, path, typeName }) => {
    const isField = typeName === 'Schema' && /\/requestBody\/.*\/properties\/[^/]+$/.test(path);
    return isField && kind === 'removed' ? { change: 'the field is no longer read', remedy: 'accept' } : null;
  },
  (change) => {
    if (change.property?.startsWith('x-gw-') !== true || isLoosened(change)) return null;
    return { change: `the mark ${modified(change)}`, remedy: 'grant' };
  },
  (change) => {
    const words = change.property === 'description' ? lostPromises(change) : [];
    return words.length === 0 ? null : { change: `its description no longer says ${words.join(', ')}`, remedy: 'say' };
  },
  ({ typeName, kind, property, base, revision }, _, area) => {
    if (area !== 'webhooks' || typeName !== 'Parameter' || kind === 'added') return null;
    if (kind === 'removed') return { change: 'the header was removed', remedy: 'keep' };
    return property === 'name' ? { change: `the header ${shown(base?.value)} became ${shown(revision?.value)}`, remedy: 'keep' } : null;
  },
  ({ kind, path, property = '', base, revision }, _, area) => {
    const steps = stepsOf(path);
    if (area !== 'components' || steps[1] !== 'securitySchemes' || property === 'description') return null;
    const isGone = kind === 'removed' || (kind === 'modified' && base?.value !== undefined);
    return isGone
      ? { change: `${property || 'the security scheme'} changed from ${shown(base?.value)} to ${shown(revision?.value)}`, remedy: 'grant' }
      : null;
  },
];

const EVENT_MARKS = ['x-publisher', 'x-service', 'defaultContentType'];

const EVENT_RULES: readonly Rule[] = [
  (change) => {
    return EVENT_MARKS.includes(change.property ?? '') ? { change: modified(change), remedy: 'route' } : null;
  },
  ({ kind, path, property = '', base, revision }) => {
    if (!path.includes('/bindings') || kind === 'added') return null;
    return { change: `the binding ${property} changed from ${shown(base?.value)} to ${shown(revision?.value)}`, remedy: 'route' };
  },
  ({ kind, path, typeName, base, revision }) => {
    if (kind === 'modified' || typeName !== 'Schema' || !/\/(?:any|one|all)Of\/\d+$/.test(path)) return null;
    return { change: `an alternative was ${kind}: ${shown((base ?? revision)?.value)}`, remedy: 'event' };
  },
];

const REMEDY_OF: readonly (readonly [RegExp, Fault['remedy']])[] = [
  [/^(?:security)/, 'grant'],
  [/-(?:added|became-required)$|^parameter-serialization/, 'accept'],
  [/^(?:schema-)/, 'beside'],
];
const remedyOf = (ruleId: string, isEvent: boolean): Fault['remedy'] =>
  isEvent ? 'event' : (REMEDY_OF.find(([pattern]) => pattern.test(ruleId))?.[1] ?? 'keep');

/** Properties that became required and were not there before: whoever wrote the message sends them, and older readers pass over them. */
const areNew = ({ base, revision }: Change, { base: document }: Pair): boolean => {
  const schema = valueAt(document, stepsOf(base?.pointer ?? '').slice(0, -1));
  const known = isJson(schema) && isJson(schema['properties']) ? Object.keys(schema['properties']) : [];
  return listOf(revision?.value).every((name) => listOf(base?.value).includes(name) || !known.includes(String(name)));
};

/** An enumeration whose schema says that readers take values they do not know. */
const isOpen = ({ base }: Change, { base: document }: Pair): boolean => {
  const schema = valueAt(document, stepsOf(base?.pointer ?? '').slice(0, -1));
  return isJson(schema) && schema['x-extensible-enum'] === true;
};

/** The removal of each of them is reported on its own. */
const areGone = ({ base, revision }: Change, { revision: document }: Pair): boolean => {
  const schema = valueAt(document, stepsOf(revision?.pointer ?? '').slice(0, -1));
  const left = isJson(schema) && isJson(schema['properties']) ? Object.keys(schema['properties']) : [];
  return left.length > 0 && listOf(base?.value).every((name) => listOf(revision?.value).includes(name) || !left.includes(String(name)));
};

const isHarmless = (change: Change, ruleId: string, pair: Pair, isEvent: boolean): boolean =>
  (ruleId === 'required-properties-removed' && areGone(change, pair)) ||
  (ruleId === 'enum-values-added' && isOpen(change, pair)) ||
  (ruleId === 'required-properties-added' && isEvent && areNew(change, pair));

/** It was marked as deprecated, and works no longer than it was promised to. */
const isOver = (value: unknown, today: string): boolean => {
  if (!isJson(value)) return false;
  if (value['deprecated'] === true) return typeof value['x-sunset'] === 'string' && value['x-sunset'] <= today;
  const operations = Object.entries(value).filter(([name]) => METHODS.has(name));
  return operations.length > 0 && operations.every(([, operation]) => isOver(operation, today));
};

/** One that goes with its last use hurts nobody; generated clients know one that stays by its name. */
const renamedTo = (name: string, { base, revision }: Pick<Pair, 'base' | 'revision'>): string | undefined => {
  const [before, now] = [base, revision].map((document) => Object(valueAt(document, ['components', 'schemas'])));
  const text = JSON.stringify(before[name]);
  return Object.keys(now).find((other) => before[other] === undefined && JSON.stringify(now[other]) === text);
};

/** What `redocly diff` does not look at: names of components, the scopes of OAuth, lists in extensions. */
const unseenFaults = ({ base, revision }: Pair): readonly Fault[] => {
  const missing = (...steps: readonly string[]): readonly string[] => {
    const now = Object.keys(valueAt(revision, steps) ?? {});
    return Object.keys(valueAt(base, steps) ?? {}).filter((name) => !now.includes(name));
  };
  const scopes = ['components', 'securitySchemes', 'oauth2', 'flows', 'authorizationCode', 'scopes'];
  const channels = Object.keys(valueAt(revision, ['channels']) ?? {});
  const consumersOf = (document: Json, type: string) => listOf(valueAt(document, ['channels', type, 'x-consumers'])).map(String);
  return [
    ...missing(...scopes).map(
      (scope): Fault => ({ place: 'OAuth', field: `scope ${scope}`, change: 'the scope was removed', remedy: 'grant' }),
    ),
    ...missing('components', 'schemas').flatMap((name): readonly Fault[] => {
      const to = renamedTo(name, { base, revision });
      return to === undefined
        ? []
        : [{ place: 'the document', field: `component ${name}`, change: `the component was renamed to ${to}`, remedy: 'keep' }];
    }),
    ...channels.flatMap((type) =>
      consumersOf(base, type)
        .filter((consumer) => !consumersOf(revision, type).includes(consumer))
        .map(
          (consumer): Fault => ({
            place: type,
            field: `queue ${consumer}.${type}`,
            change: `${consumer} is no consumer any more`,
            remedy: 'route',
          }),
        ),
    ),
  ];
};

/** What of the changes between two documents breaks who relies on the first. */
export const faultsAmong = (changes: readonly Change[], pair: Pair): readonly Fault[] => {
  const isEvent = 'asyncapi' in pair.base;
  const rules = isEvent ? [...OWN_RULES, ...EVENT_RULES] : OWN_RULES;
  const counted = changes.filter(({ kind, base }) => kind !== 'removed' || !isOver(base?.value, pair.today));
  const found = counted.flatMap((change) => {
    const spot = spotOf(change, pair);
    const area = stepsOf(change.path)[0] ?? '';
    const judged = change.verdicts
      .filter(({ impact, ruleId }) => impact === 'major' && !isHarmless(change, ruleId, pair, isEvent))
      .map(
        ({ ruleId, message }): Finding => ({
          change: sentence(message),
          remedy: remedyOf(ruleId, isEvent),
          ...(ruleId === 'enum-values-added' && { gained: gained(change).map(String) }),
        }),
      );
    const findings =
      judged.length > 0
        ? judged
        : rules
            .map((rule) => rule(change, pair, area))
            .filter((finding) => finding !== null)
            .slice(0, 1);
    return findings.map((finding) => ({ ...spot, ...finding }));
  });
  return [...found, ...unseenFaults(pair)];
};
