import { schemaFaultsIn } from '../fuzz/json-schema.ts';
import { isJson, type Json } from '../released/releases.ts';
import type { PactFile } from './pact-files.ts';

type Request = NonNullable<PactFile['interactions'][number]['request']>;

/** The operation of a document that a request reaches. */
interface Reached {
  readonly document: Json;
  readonly template: string;
  readonly operation: Json;
}

export const pathMatches = (template: string, path: string): boolean => {
  const [wanted, given] = [template.split('/'), path.split('/')];
  return wanted.length === given.length && wanted.every((step, index) => step.startsWith('{') || step === given[index]);
};

/** Null when the document has no such operation. */
export const reachedBy = (
  document: Json | undefined,
  { method, path }: { readonly method: string; readonly path: string },
): Reached | null => {
  const paths = isJson(document?.['paths']) ? document['paths'] : {};
  const template = Object.keys(paths).find((one) => one === path) ?? Object.keys(paths).find((one) => pathMatches(one, path)) ?? '';
  const methods = paths[template];
  const operation = isJson(methods) ? methods[method.toLowerCase()] : undefined;
  return document !== undefined && isJson(operation) ? { document, template, operation } : null;
};

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** Parameters travel as text. */
const typed = ({ type }: Json, values: readonly string[]): unknown => {
  if (type === 'array') return values;
  const [text = ''] = values;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return (type === 'integer' || type === 'number') && text.trim() !== '' && !Number.isNaN(Number(text)) ? Number(text) : text;
};

/** The values that a request has of each kind of parameter. */
const sentBy = ({ path, query, headers }: Request, template: string) => {
  const steps = path.split('/');
  const names = template.split('/').map((step) => /^\{(.*)\}$/.exec(step)?.[1]);
  return {
    path: (name: string) => steps.filter((_, index) => names[index] === name).map(decodeURIComponent),
    query: (name: string) => query[name] ?? [],
    header: (name: string) =>
      Object.entries(headers)
        .filter(([sent]) => sent.toLowerCase() === name.toLowerCase())
        .flatMap(([, values]) => values),
  };
};

/** What of the body this request body of an operation does not allow. */
const bodyFaults = ({ body }: Request, described: unknown, faultsOf: ReturnType<typeof schemaFaultsIn>): readonly string[] => {
  const { required, content } = Object(described);
  if (body === undefined) return required === true ? ['the body is missing'] : [];
  const media = isJson(content) ? content[body.contentType.split(';')[0] ?? ''] : undefined;
  if (!isJson(media) || !isJson(media['schema'])) return [`a body of the type ${body.contentType}`];
  return faultsOf(media['schema'], body.content).map((fault) => `the body: ${fault}`);
};

/** What a provider with this document refuses of a request. */
export const requestFaults = ({ document, template, operation }: Reached, request: Request): readonly string[] => {
  const faultsOf = schemaFaultsIn(document, 'requests');
  const sent = sentBy(request, template);
  const ofParameters = listOf(operation['parameters']).flatMap((parameter): readonly string[] => {
    const { name, in: place, required, schema } = parameter;
    const read = place === 'path' || place === 'query' || place === 'header' ? sent[place] : null;
    if (read === null) return [];
    const values = read(String(name));
    const what = `the ${place} parameter ${name}`;
    if (values.length === 0) return required === true ? [`${what} is missing`] : [];
    return isJson(schema) ? faultsOf(schema, typed(schema, values)).map((fault) => `${what}: ${fault}`) : [];
  });
  return [...ofParameters, ...bodyFaults(request, operation['requestBody'], faultsOf)];
};
