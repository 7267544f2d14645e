import { isJson, type Json, resolve } from './json-schema.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Json;
}

/** What stands in a body: of requests JSON or a form, of answers also a page. */
export interface Content {
  readonly mediaType: string;
  /** Others that it may have in place of that one. */
  readonly otherTypes: readonly string[];
  readonly schema: Json;
}

/** One method of one path, as the served document tells it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Of the body; null when it takes none. */
  readonly body: Content | null;
  /** By status; null for an answer without a body. */
  readonly answers: ReadonlyMap<number, Content | null>;
}

const jsonAt = (value: unknown, ...names: readonly string[]): Json | null => {
  const found = names.reduce<unknown>((part, name) => (isJson(part) ? part[name] : undefined), value);
  return isJson(found) ? found : null;
};

function contentOf(part: unknown): Content | null {
  const [mediaType, ...otherTypes] = Object.keys(jsonAt(part, 'content') ?? {});
  return mediaType === undefined ? null : { mediaType, otherTypes, schema: jsonAt(part, 'content', mediaType, 'schema') ?? {} };
}

function answersOf(document: Json, responses: Json): Map<number, Content | null> {
  return new Map(
    Object.entries(responses).map(([status, response]) => {
      const reference = isJson(response) ? response['$ref'] : undefined;
      return [Number(status), contentOf(typeof reference === 'string' ? resolve(document, reference) : response)];
    }),
  );
}

const PLACES = ['path', 'query', 'header'] as const;

function parametersOf(operation: Json): Parameter[] {
  const list = operation['parameters'];
  return (Array.isArray(list) ? list : []).filter(isJson).map((parameter) => {
    const place = PLACES.find((one) => one === parameter['in']);
    if (place === undefined) throw new TypeError(`a parameter in ${String(parameter['in'])}`);
    return {
      name: String(parameter['name']),
      required: parameter['required'] === true,
      schema: jsonAt(parameter, 'schema') ?? {},
      in: place,
    };
  });
}

export function operationsOf(document: Json): Operation[] {
  return Object.entries(jsonAt(document, 'paths') ?? {}).flatMap(([path, methods]) =>
    Object.entries(isJson(methods) ? methods : {}).flatMap(([method, operation]) => {
      if (!isJson(operation)) return [];
      return [
        {
          id: String(operation['operationId']),
          method: method.toUpperCase(),
          path,
          parameters: parametersOf(operation),
          body: contentOf(operation['requestBody']),
          answers: answersOf(document, jsonAt(operation, 'responses') ?? {}),
        },
      ];
    }),
  );
}
