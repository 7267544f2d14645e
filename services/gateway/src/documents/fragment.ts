import { ACCEPTED_KINDS } from '@bubbles/contracts/access.ts';
import type { ErrorFormat } from '@bubbles/http/routes/route.ts';
import { isObject, type JsonObject, membersOf } from '../messages/json.ts';

/** The methods of OpenAPI that a service may offer; HEAD and OPTIONS follow from them. */
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const PATH_ITEM_METHODS: ReadonlySet<string> = new Set([...METHODS, 'options', 'head', 'trace']);

/** Which credentials an operation takes. */
type AuthClass = 'none' | keyof typeof ACCEPTED_KINDS;

/** A public operation of a service, as its fragment describes it. */
export interface Operation {
  readonly service: string;
  /** Upper case. */
  readonly method: string;
  /** OpenAPI template, e.g. `/v1/bubbles/{id}`. */
  readonly template: string;
  readonly operationId: string;
  readonly auth: AuthClass;
  /** The time that the answer may take to begin; null for the gateway's own limit. */
  readonly timeoutMs: number | null;
  /** How large a body may be. */
  readonly bodyLimitBytes: number;
  /** How it writes its refusals, and how the gateway writes those that it makes in its place. */
  readonly errorFormat: ErrorFormat;
  /** A GET that changes something: HEAD is refused, and it is sent once. */
  readonly isUnsafe: boolean;
}

/** A service's OpenAPI document with what routing needs of it. */
export interface Fragment {
  readonly service: string;
  readonly document: JsonObject;
  readonly operations: readonly Operation[];
}

export interface Fault {
  readonly code: string;
  readonly detail: string;
}

/** A path template with its parameters unnamed: two templates of one shape match the same paths. */
export const shapeOf = (template: string): string => template.replaceAll(/\{[^/{}]*\}/g, '{}');

/** A prefix owns itself and everything below it. */
export const isWithin = (path: string, prefix: string): boolean =>
  prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix || path.startsWith(`${prefix}/`);

const ERROR_FORMATS: readonly ErrorFormat[] = ['envelope', 'rfc6749', 'page'];

const isAuthClass = (value: unknown): value is AuthClass =>
  value === 'none' || (typeof value === 'string' && Object.hasOwn(ACCEPTED_KINDS, value));

/** Reads what a service says of itself; a fragment with a fault is refused whole. */
export const readFragment = (service: string, document: unknown): Fragment | Fault => {
  if (!isObject(document) || !isObject(document['paths'])) return { code: 'invalid_document', detail: 'not an OpenAPI document' };
  const version = document['openapi'];
  if (typeof version !== 'string' || !version.startsWith('3.1.')) return { code: 'openapi_version', detail: `openapi ${String(version)}` };
  const operations: Operation[] = [];
  for (const { described, ...key } of describedOperations(service, document['paths'])) {
    const operation = readOperation(described, key);
    if ('code' in operation) return operation;
    operations.push(operation);
  }
  return { service, document, operations };
};

const describedOperations = (service: string, paths: unknown): readonly (OperationKey & { readonly described: unknown })[] =>
  membersOf(paths).flatMap(([template, item]) =>
    membersOf(item).flatMap(([method, described]) =>
      PATH_ITEM_METHODS.has(method) && !isInternal(described) ? [{ service, template, method, described }] : [],
    ),
  );

/** Reached by other services only, never from outside. */
const isInternal = (operation: unknown): boolean => isObject(operation) && operation['x-internal'] === true;

/** Shown to clients. */
export const isDocumented = (operation: JsonObject): boolean => !isInternal(operation) && operation['x-gw-undocumented'] !== true;

interface OperationKey {
  readonly service: string;
  readonly template: string;
  readonly method: string;
}

const readOperation = (described: unknown, { service, template, method }: OperationKey): Operation | Fault => {
  const place = `${method} ${template}`;
  if (!isObject(described) || !METHODS.some((known) => known === method)) return { code: 'bad_operation', detail: place };
  const { operationId, 'x-gw-auth': auth, 'x-gw-timeout': timeout, 'x-gw-body-limit': bodyLimit, 'x-gw-error-format': format } = described;
  if (typeof operationId !== 'string' || operationId === '') return { code: 'no_operation_id', detail: place };
  if (!isAuthClass(auth)) return { code: 'unknown_auth', detail: `${place}: x-gw-auth ${String(auth)}` };
  const errorFormat = format === undefined ? 'envelope' : ERROR_FORMATS.find((known) => known === format);
  if (errorFormat === undefined) return { code: 'unknown_error_format', detail: `${place}: x-gw-error-format ${String(format)}` };
  const timeoutMs = typeof timeout === 'number' && timeout > 0 ? timeout * 1000 : null;
  return {
    service,
    method: method.toUpperCase(),
    template,
    operationId,
    auth,
    timeoutMs,
    bodyLimitBytes: bodyLimitOf(template, bodyLimit),
    errorFormat,
    isUnsafe: described['x-gw-unsafe'] === true,
  };
};

/** Also the most that a body of `/v1` may have. */
export const USUAL_BODY_LIMIT_BYTES = 64 * 1024;

const bodyLimitOf = (template: string, described: unknown): number => {
  const isWider = typeof described === 'number' && Number.isSafeInteger(described) && described > 0;
  return isWider && !isWithin(template, '/v1') ? described : USUAL_BODY_LIMIT_BYTES;
};
