import { type Fragment, readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { mergeFragments } from '@bubbles/gateway/documents/merge.ts';
import { OWNED_PREFIXES } from '@bubbles/gateway/documents/ownership.ts';
import { DOCUMENT_HEAD } from '@bubbles/gateway/pages/document-head.ts';
import { describe, expect, it } from '@jest/globals';
import { everyService, fragmentOf } from '../support/services.ts';
import { fieldTypes, lackingIn } from './field-types.ts';
import { REQUEST_COMPONENTS, RESPONSE_COMPONENTS } from './interface-components.ts';
import { commonRefusals, ENDPOINTS, type Endpoint } from './interface-endpoints.ts';

type Json = Readonly<Record<string, unknown>>;
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((inner, key) => (isJson(inner) ? inner[key] : undefined), value);
const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

const services = everyService();
const fragmentsByService = new Map(services.map((service) => [service.name, fragmentOf(service)]));
const fragments: readonly Fragment[] = [...fragmentsByService].map(([service, document]) => {
  const fragment = readFragment(service, document);
  if ('code' in fragment) throw new Error(`${service}: ${fragment.code}: ${fragment.detail}`);
  return fragment;
});
const { document, conflicts } = mergeFragments({ head: DOCUMENT_HEAD, fragments, prefixes: OWNED_PREFIXES });

const operationOf = ({ method, path }: Endpoint): unknown => at(document, 'paths', path, method.toLowerCase());
/** As its service describes it to the gateway. */
const routedOperation = (service: string, { method, path }: Endpoint): unknown =>
  at(fragmentsByService.get(service), 'paths', path, method.toLowerCase());

const componentsOf = (content: unknown): readonly string[] => {
  const [media] = Object.values(at(content, 'content') ?? {});
  const schema = at(media, 'schema');
  return [schema, ...listAt(schema, 'anyOf')].flatMap((one) => {
    const reference = at(one, '$ref');
    return typeof reference === 'string' ? [reference.replace('#/components/schemas/', '')] : [];
  });
};
const parametersIn = (operation: unknown, place: string): readonly unknown[] =>
  listAt(operation, 'parameters')
    .filter((parameter) => at(parameter, 'in') === place)
    .map((parameter) => at(parameter, 'name'));

const requiredIn = (operation: unknown, place: string): readonly unknown[] =>
  parametersIn({ parameters: listAt(operation, 'parameters').filter((parameter) => at(parameter, 'required') === true) }, place);

/** The schemes of the gateway's document by the kinds of credential that an endpoint takes. */
const SCHEMES: Readonly<Record<Endpoint['auth'], readonly string[]>> = {
  none: [],
  pat: ['personalAccessToken', 'oauth2'],
  session: ['appSession'],
  'pat+session': ['personalAccessToken', 'oauth2', 'appSession'],
};

const allEndpoints = Object.entries(ENDPOINTS).flatMap(([service, endpoints]) =>
  endpoints.map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, service, endpoint })),
);

describe('section 4: endpoints', () => {
  it('[API-01] the fragments of the services make one document', () => {
    expect(conflicts).toEqual([]);
  });

  it.each(allEndpoints)('[API-03] $name is served by $service', ({ service, endpoint }) => {
    expect(routedOperation(service, endpoint)).toBeDefined();
  });

  it.each(allEndpoints)('[API-03][AUTH-02] $name takes its credentials and scope', ({ service, endpoint }) => {
    const operation = operationOf(endpoint);
    const routed = routedOperation(service, endpoint);
    const security = listAt(operation, 'security').flatMap((requirement) => Object.entries(isJson(requirement) ? requirement : {}));
    expect(security.map(([scheme]) => scheme)).toEqual(SCHEMES[endpoint.auth]);
    expect(at(routed, 'x-gw-auth')).toBe(endpoint.auth);
    expect(Object.fromEntries(security)['oauth2'] ?? []).toEqual(endpoint.scope === undefined ? [] : [endpoint.scope]);
  });

  it.each(allEndpoints)('[API-03][GEN-04] $name answers with its component', ({ endpoint: { status, answer, extension, ...endpoint } }) => {
    const responses = at(operationOf({ status, ...endpoint }), 'responses');
    const statuses = Object.keys(isJson(responses) ? responses : {}).map(Number);
    expect(statuses.filter((known) => known < 400)).toEqual([status]);
    expect(componentsOf(at(responses, String(status)))).toEqual([extension?.answer ?? [], answer ?? []].flat());
  });

  it.each(allEndpoints)('[API-03][ERR-03] $name may refuse with its statuses', ({ endpoint }) => {
    const responses = at(operationOf(endpoint), 'responses');
    const refusals = Object.keys(isJson(responses) ? responses : {})
      .map(Number)
      .filter((status) => status >= 400);
    expect(refusals).toEqual(expect.arrayContaining([...endpoint.refusals, ...commonRefusals(endpoint)]));
  });

  /** Every operation of every service with the statuses that the gateway itself may answer in its place. */
  const ofGateway = [...fragmentsByService.values()]
    .flatMap((fragment) => Object.entries(at(fragment, 'paths') ?? {}))
    .flatMap(([path, methods]) =>
      Object.entries(isJson(methods) ? methods : {}).map(([method, operation]) => ({ method, path, operation })),
    )
    .filter(({ operation }) => at(operation, 'x-internal') === false)
    .map(({ method, path, operation }) => {
      const [takesBody, isOpen] = [at(operation, 'requestBody') !== undefined, at(operation, 'x-gw-auth') === 'none'];
      const isEnvelope = at(operation, 'x-gw-error-format') === undefined;
      const needed = [400, 500, takesBody || !isOpen ? 429 : [], isOpen ? [] : 401, takesBody && !isEnvelope ? 413 : []].flat();
      return { name: `${method} ${path}`, needed, responses: at(operation, 'responses') };
    });

  it('[API-03] what the gateway answers itself is listed: too many bytes without a credential are 429, with Retry-After', () => {
    expect(ofGateway.length).toBeGreaterThan(allEndpoints.length);
    const lacking = ofGateway.filter(({ needed, responses }) => needed.some((status) => at(responses, String(status)) === undefined));
    expect(lacking.map(({ name }) => name)).toEqual([]);
    const retryAfter = (refusal: unknown): unknown => {
      const isShared = at(refusal, '$ref') === '#/components/responses/RateLimited';
      return at(isShared ? at(document, 'components', 'responses', 'RateLimited') : refusal, 'headers', 'Retry-After');
    };
    const silent = ofGateway.filter(({ needed, responses }) => needed.includes(429) && retryAfter(at(responses, '429')) === undefined);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it.each(allEndpoints)('[API-03] $name takes its parameters and body', ({ endpoint }) => {
    const operation = operationOf(endpoint);
    const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parametersIn(operation, 'path')).toEqual(inPath);
    const listed = [endpoint.query ?? [], endpoint.extension?.query ?? []].flat();
    expect(parametersIn(operation, 'query')).toEqual(expect.arrayContaining(listed));
    expect(requiredIn(operation, 'query').filter((name) => !listed.some((one) => one === name))).toEqual([]);
    expect(componentsOf(at(operation, 'requestBody'))).toEqual(endpoint.body === undefined ? [] : [endpoint.body]);
  });

  it('[GEN-01] data endpoints live below /v1; OAuth and discovery beside it', () => {
    const outside = Object.keys(at(document, 'paths') ?? {}).filter((path) => !/^\/(v1\/|oauth\/|\.well-known\/)/.test(path));
    expect(outside).toEqual([]);
    const besideData = allEndpoints.filter(({ endpoint: { path } }) => !path.startsWith('/v1/'));
    expect(besideData.filter(({ endpoint: { path } }) => !/^\/(oauth|\.well-known)\//.test(path))).toEqual([]);
  });

  it('[API-03] what is served beside them is marked as an extension', () => {
    const known = new Set(allEndpoints.map(({ name }) => name));
    const paths = Object.entries(at(document, 'paths') ?? {});
    const beside = paths.flatMap(([path, methods]) =>
      Object.entries(isJson(methods) ? methods : {})
        .filter(
          ([method, operation]) =>
            path.startsWith('/v1/') && !known.has(`${method.toUpperCase()} ${path}`) && at(operation, 'x-extension') !== true,
        )
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
    expect(beside).toEqual([]);
  });
});

describe('section 2 in the document', () => {
  const components = at(document, 'components', 'schemas');
  const expected = [
    ...Object.entries(RESPONSE_COMPONENTS).map(([name, fields]) => ({ name, fields, of: 'answer' as const })),
    ...Object.entries(REQUEST_COMPONENTS).map(([name, fields]) => ({ name, fields, of: 'body' as const })),
  ];

  it.each(expected)('[API-01] $name is a component of its name with its fields', ({ name, fields, of }) => {
    expect(lackingIn(fieldTypes(name, components), fields, of)).toEqual([]);
  });
});
