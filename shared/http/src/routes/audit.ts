import { isDomainError } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { RouterContext } from '@koa/router';
import { headerValues } from '../wire/framing.ts';

/** What the audit line of a route names beside the parameters of its path: fields by their dotted paths, none that is secret or tells who somebody is. */
export interface Audit {
  readonly body?: readonly string[];
  readonly answer?: readonly string[];
}

/** What is known of a request so far. */
interface Seen {
  /** What the guard has found. */
  readonly admitted?: object;
  readonly params?: unknown;
  readonly body?: unknown;
  readonly answer?: unknown;
}

/** The operator's own word for who they are; what proves that they are one is the service token. */
const OPERATOR_NAME = /^[\w.@-]{1,64}$/;
const MAX_TEXT = 200;
/** An operator may have typed an address where an id belongs. */
const ADDRESS = /@|%40/;

/** Writes one line for each request, whatever came of it. */
export const audited =
  ({ operationId, audit = {} }: { readonly operationId: string; readonly audit?: Audit }, log: Log) =>
  (serve: (ctx: RouterContext, note: (seen: Seen) => void) => Promise<void>) =>
  async (ctx: RouterContext): Promise<void> => {
    let seen: Seen = {};
    const write = (outcome: 'done' | 'refused' | 'failed', reason: string | null) => {
      const { admitted = {}, params, body, answer } = seen;
      const [name = '', ...others] = headerValues(ctx.req, 'x-operator-name');
      log.info('operator act', {
        operation: operationId,
        caller: fieldOf(admitted, 'service') ?? null,
        operator: OPERATOR_NAME.test(name) && others.length === 0 ? name : null,
        named: { ...entriesOf(params), ...picked(body, audit.body) },
        ...(audit.answer && answer !== undefined && { answer: picked(answer, audit.answer) }),
        ...(Object.keys(entriesOf(body)).length > 0 && { fields: Object.keys(entriesOf(body)) }),
        outcome,
        reason,
      });
    };
    try {
      await serve(ctx, (more) => {
        seen = { ...seen, ...more };
      });
    } catch (error) {
      const kind = isDomainError(error) ? error.kind : 'internal';
      // What failed on our side may have been done all the same.
      write(kind === 'internal' || kind === 'unavailable' ? 'failed' : 'refused', kind);
      throw error;
    }
    write('done', null);
  };

const entriesOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, writable(inner)]))
    : {};

const picked = (value: unknown, paths: readonly string[] = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    paths.flatMap((path) => {
      const found = path.split('.').reduce(fieldOf, value);
      return found === undefined ? [] : [[path, writable(found)]];
    }),
  );

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;

const writable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(writable);
  if (typeof value !== 'string') return value;
  return ADDRESS.test(value) ? '[withheld]' : value.slice(0, MAX_TEXT);
};
