import { isDomainError } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { RouterContext } from '@koa/router';
import { headerValues } from '../wire/framing.ts';

/** Fields, by dotted path, that the audit line names besides the path parameters. Never secrets or personal data. */
export interface Audit {
  readonly body?: readonly string[];
  readonly answer?: readonly string[];
}

/** Facts about a request that handling has found so far. */
interface Seen {
  /** Result of the guard. */
  readonly admitted?: object;
  readonly params?: unknown;
  readonly body?: unknown;
  readonly answer?: unknown;
}

/** The operator's name as they state it; only the service token is a proof. */
const OPERATOR_NAME = /^[\w.@-]{1,64}$/;
const MAX_TEXT = 200;
/** Matches an e-mail address in a path: an operator may have typed one instead of an id. */
const ADDRESS = /@|%40/;

/** Writes one line per request, also for refused and failed ones. */
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
      // After a 5xx the change may have been made.
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
