import type { ErrorFormat } from '@bubbles/http/routes/route.ts';
import type { Operation } from './fragment.ts';

/** The operations of one path. */
export interface Resource {
  /** HEAD is found under GET. */
  readonly operations: ReadonlyMap<string, Operation>;
  /** The value of `Allow`. */
  readonly allow: string;
  /** That of its operations, for methods that it does not have. */
  readonly errorFormat: ErrorFormat;
}

interface Node {
  readonly literals: Map<string, Node>;
  parameter: Node | null;
  resource: { readonly operations: Map<string, Operation>; allow: string; readonly errorFormat: ErrorFormat } | null;
}

const newNode = (): Node => ({ literals: new Map(), parameter: null, resource: null });

/** `path` as raw bytes: case-sensitive, strict about a trailing slash, nothing decoded; literal segments go before parameters. */
export class RoutingTable {
  #root = newNode();
  /** By template; one without parameters is the path itself. */
  #literal: ReadonlyMap<string, Resource | null> = new Map();

  constructor(operations: readonly Operation[]) {
    this.replace(operations);
  }

  match(path: string): Resource | null {
    return this.#literal.get(path) ?? (path.startsWith('/') ? find(this.#root, path, 1) : null);
  }

  /** All at once. Where two operations share method and path, the later one decides. */
  replace(operations: readonly Operation[]): void {
    const root = newNode();
    for (const operation of operations) insert(root, operation);
    this.#root = root;
    this.#literal = new Map(operations.map(({ template }) => [template, find(root, template, 1)]));
  }
}

const insert = (root: Node, operation: Operation): void => {
  let node = root;
  for (const segment of operation.template.slice(1).split('/')) node = childOf(node, segment);
  node.resource ??= { operations: new Map(), allow: '', errorFormat: operation.errorFormat };
  node.resource.operations.set(operation.method, operation);
  node.resource.allow = allowOf(node.resource.operations);
};

const childOf = (node: Node, segment: string): Node => {
  if (segment.startsWith('{')) {
    node.parameter ??= newNode();
    return node.parameter;
  }
  const known = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, known);
  return known;
};

const allowOf = (operations: ReadonlyMap<string, Operation>): string =>
  [...operations.keys(), ...(operations.get('GET')?.isUnsafe === false ? ['HEAD'] : []), 'OPTIONS'].toSorted().join(', ');

/** `start` is where the next segment begins; past the end of the path all segments are used up. */
const find = (node: Node, path: string, start: number): Resource | null => {
  if (start > path.length) return node.resource;
  const slash = path.indexOf('/', start);
  const end = slash === -1 ? path.length : slash;
  const segment = path.slice(start, end);
  const literal = node.literals.get(segment);
  const found = literal === undefined ? null : find(literal, path, end + 1);
  if (found !== null || node.parameter === null || segment === '') return found;
  return find(node.parameter, path, end + 1);
};
