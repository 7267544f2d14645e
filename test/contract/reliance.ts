import type { PactFile } from './pact-files.ts';

type Json = Readonly<Record<string, unknown>>;
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce((inner, name) => (isJson(inner) ? inner[name] : undefined), value);

/** Each value of a body by its path, as matchers name it. */
const fieldsOf = (value: unknown, path: string): readonly (readonly [string, unknown])[] => {
  if (Array.isArray(value)) return value.length === 0 ? [[path, value]] : value.flatMap((one) => fieldsOf(one, `${path}[*]`));
  if (!isJson(value)) return [[path, value]];
  const own = Object.entries(value).flatMap(([name, inner]) => fieldsOf(inner, `${path}.${name}`));
  return own.length === 0 ? [[path, value]] : own;
};

const partsOf = (interaction: PactFile['interactions'][number]): ReadonlyMap<string, string> => {
  const answer = at(interaction, 'response') ?? { body: at(interaction, 'contents'), matchingRules: at(interaction, 'matchingRules') };
  const rules = at(answer, 'matchingRules', 'body');
  const ruled = (path: string, value: unknown): string => {
    const matchers = at(rules, path, 'matchers');
    return matchers === undefined ? JSON.stringify(value) : JSON.stringify(matchers);
  };
  const request = at(interaction, 'request');
  const asked = fieldsOf(at(request, 'body', 'content') ?? {}, '$').map(([path]) => [`it sends ${path}`, ''] as const);
  return new Map<string, string>([
    ...fieldsOf(at(answer, 'body', 'content') ?? {}, '$').map(([path, value]) => [path, ruled(path, value)] as const),
    ...(request === undefined ? [] : ([['status', String(at(answer, 'status'))], ...asked] as const)),
  ]);
};

const changesBetween = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] => [
  ...[...after.keys()].filter((part) => !before.has(part)).map((part) => `now relies on ${part}`),
  ...[...before.keys()].filter((part) => !after.has(part)).map((part) => `no longer relies on ${part}`),
  ...[...after].filter(([part, form]) => (before.get(part) ?? form) !== form).map(([part]) => `relies on another form of ${part}`),
];

/** Who relies on what since a pact was kept last, a line each; null for a pact that was not there, or is gone. */
export const relianceChanges = (before: PactFile | null, after: PactFile | null): readonly string[] => {
  const pact = after ?? before;
  if (pact === null) return [];
  const [consumer, provider] = [pact.consumer.name, pact.provider.name];
  const interactionsOf = (of: PactFile | null) => new Map(of?.interactions.map((one) => [one.description, partsOf(one)]));
  const [old, current] = [interactionsOf(before), interactionsOf(after)];
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((description) => {
    const [was, is] = [old.get(description), current.get(description)];
    const changes =
      is === undefined
        ? ['no longer relies on anything']
        : was === undefined
          ? ['now relies, for the first time, on an answer or message']
          : changesBetween(was, is);
    return changes.map((change) => `${consumer} ${change} of ${provider} (${description})`);
  });
};
