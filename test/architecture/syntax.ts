import { parseSync } from '@swc/core';
import type { Source } from './sources.ts';

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const parse = ({ path, text }: Source): Node => {
  const module = parseSync(text, { syntax: 'typescript', target: 'esnext' });
  if (!isNode(module)) throw new Error(`${path} did not parse`);
  return module;
};

const childrenOf = (node: object): readonly unknown[] =>
  Object.values(node).flatMap((value: unknown) =>
    Array.isArray(value) ? value : typeof value === 'object' && value !== null ? [value] : [],
  );

const field = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Object.entries(inner).find(([key]) => key === name)?.[1] : undefined),
    value,
  );

const textAt = (value: unknown, ...names: readonly string[]): string | null => {
  const found = field(value, ...names);
  return typeof found === 'string' ? found : null;
};

const listAt = (value: unknown, ...names: readonly string[]): readonly unknown[] => {
  const found = field(value, ...names);
  return Array.isArray(found) ? found : [];
};

const keysOf = (members: readonly unknown[]): readonly string[] =>
  members.flatMap((member) => {
    const key = textAt(member, 'key', 'value') ?? textAt(member, 'value');
    return key === null ? [] : [key];
  });

/** `z.object`, `.extend` and their kin, with a literal for an argument. */
const OBJECT_MAKERS = new Set(['object', 'strictObject', 'looseObject', 'extend', 'safeExtend']);

const schemaKeys = (node: Node): readonly string[] | null => {
  if (node.type !== 'CallExpression' || !OBJECT_MAKERS.has(textAt(node, 'callee', 'property', 'value') ?? '')) return null;
  const argument = field(listAt(node, 'arguments')[0], 'expression');
  return isNode(argument) && argument.type === 'ObjectExpression' ? keysOf(listAt(argument, 'properties')) : null;
};

const typeKeys = (node: Node): readonly string[] | null => {
  if (node.type === 'TsInterfaceDeclaration') return keysOf(listAt(node, 'body', 'body'));
  if (node.type === 'TsTypeLiteral') return keysOf(listAt(node, 'members'));
  return null;
};

const DECLARATIONS = new Set([
  'VariableDeclarator',
  'TsInterfaceDeclaration',
  'TsTypeAliasDeclaration',
  'ClassDeclaration',
  'FunctionDeclaration',
]);
const declaredName = (node: Node): string | null =>
  DECLARATIONS.has(node.type) ? (textAt(node, 'id', 'value') ?? textAt(node, 'identifier', 'value')) : null;

export interface Shape {
  /** `path#Name` of the declaration it stands in. */
  readonly at: string;
  readonly keys: readonly string[];
}

/** Every object type and object schema of a file. */
export const shapesOf = (source: Source): readonly Shape[] => {
  const collect = (value: unknown, name: string): readonly Shape[] => {
    if (typeof value !== 'object' || value === null) return [];
    if (!isNode(value)) return childrenOf(value).flatMap((child) => collect(child, name));
    const here = declaredName(value) ?? name;
    const keys = schemaKeys(value) ?? typeKeys(value);
    const own = keys === null ? [] : [{ at: `${source.path}#${here}`, keys }];
    return [...own, ...childrenOf(value).flatMap((child) => collect(child, here))];
  };
  return collect(parse(source), '');
};

const FUNCTIONS = new Set(['FunctionDeclaration', 'ClassDeclaration', 'ArrowFunctionExpression', 'FunctionExpression']);

/** The functions and classes that a file exports. */
export const functionsExportedBy = (source: Source): ReadonlySet<string> => {
  const names = listAt(parse(source), 'body').flatMap((item) => {
    const declaration = field(item, 'declaration');
    const many = listAt(declaration, 'declarations');
    return (many.length > 0 ? many : [declaration]).map((node) => {
      const made = field(node, 'init') ?? node;
      return isNode(node) && isNode(made) && FUNCTIONS.has(made.type) ? declaredName(node) : null;
    });
  });
  return new Set(names.filter((name) => name !== null));
};

interface Import {
  readonly from: string;
  readonly name: string;
  readonly typeOnly: boolean;
}

export const importsOf = (source: Source): readonly Import[] =>
  listAt(parse(source), 'body').flatMap((item) =>
    listAt(item, 'specifiers').map((specifier) => ({
      from: textAt(item, 'source', 'value') ?? '',
      name: textAt(specifier, 'imported', 'value') ?? textAt(specifier, 'local', 'value') ?? '',
      typeOnly: field(item, 'typeOnly') === true || field(specifier, 'isTypeOnly') === true,
    })),
  );

const lineAt = (text: string, byte: number): number => Buffer.from(text).subarray(0, byte).toString().split('\n').length;

const isEmptyList = (node: unknown): boolean => isNode(node) && node.type === 'ArrayExpression' && listAt(node, 'elements').length === 0;

/** The lines that hold an `as`, but for `as const` and the type of an empty list. */
export const castsOf = (source: Source): readonly number[] => {
  const collect = (value: unknown): readonly number[] => {
    if (typeof value !== 'object' || value === null) return [];
    const start = field(value, 'typeAnnotation', 'span', 'start');
    const own =
      isNode(value) && value.type === 'TsAsExpression' && !isEmptyList(value['expression']) && typeof start === 'number'
        ? [lineAt(source.text, start - 1)]
        : [];
    return [...own, ...childrenOf(value).flatMap(collect)];
  };
  return collect(parse(source));
};

/** The keys of the object that a function of a file returns, with those of the functions of the file whose results are spread into it. */
export const keysReturnedBy = (source: Source, functionName: string): readonly string[] => {
  const returned = (value: unknown, inside: boolean): readonly unknown[] => {
    if (typeof value !== 'object' || value === null) return [];
    const here = inside || (isNode(value) && declaredName(value) === functionName);
    if (here && isNode(value) && value.type === 'ObjectExpression') return listAt(value, 'properties');
    return childrenOf(value).reduce<readonly unknown[]>((found, child) => (found.length > 0 ? found : returned(child, here)), []);
  };
  const properties = returned(parse(source), false);
  const spread = properties.flatMap((property) => textAt(property, 'arguments', 'callee', 'value') ?? []);
  return [...keysOf(properties), ...spread.flatMap((name) => keysReturnedBy(source, name))];
};

const COLLECTIONS = new Set(['Map', 'Set', 'WeakMap', 'WeakSet']);
const isFunction = (value: unknown): boolean =>
  isNode(value) && ['ArrowFunctionExpression', 'FunctionExpression', 'MethodProperty'].includes(value.type);

/** What a variable can hold that changes: it is assigned again, or is an empty collection. */
const isMutable = (declaration: Node): boolean =>
  declaration['kind'] !== 'const' ||
  listAt(declaration, 'declarations').some(
    (declared) =>
      textAt(declared, 'init', 'type') === 'NewExpression' &&
      COLLECTIONS.has(textAt(declared, 'init', 'callee', 'value') ?? '') &&
      listAt(declared, 'init', 'arguments').length === 0,
  );

/** Itself a function, or an object with one. */
const holdsFunction = (value: unknown): boolean =>
  isFunction(value) ||
  (textAt(value, 'type') === 'ParenthesisExpression' && holdsFunction(field(value, 'expression'))) ||
  listAt(value, 'properties').some((property) => isFunction(property) || isFunction(field(property, 'value')));

const statementsOf = (body: unknown): readonly Node[] => [...listAt(body, 'stmts'), ...listAt(body, 'body')].filter(isNode);

/** Variables of a function that what it answers can change later. */
const keepsState = (node: Node): boolean => {
  const statements = statementsOf(field(node, 'body') ?? field(node, 'function', 'body'));
  const answersFunctions = statements.some(({ type, argument }) => type === 'ReturnStatement' && holdsFunction(argument));
  return answersFunctions && statements.some((statement) => statement.type === 'VariableDeclaration' && isMutable(statement));
};

const impurityOf = (node: Node): string | null => {
  if (node['async'] === true || field(node, 'function', 'async') === true) return 'async';
  if (node.type === 'AwaitExpression' || node['await'] === true) return 'await';
  if (node.type === 'Identifier' && /^Promise(Like)?$/.test(textAt(node, 'value') ?? '')) return 'Promise';
  return keepsState(node) ? 'state' : null;
};

/** What a rule of the domain is not made of: promises, and variables that outlive a call. */
export const impuritiesOf = (source: Source): readonly string[] => {
  const module = parse(source);
  const variables = listAt(module, 'body').map((item) => field(item, 'declaration') ?? item);
  const own = variables.some((item) => isNode(item) && item.type === 'VariableDeclaration' && isMutable(item)) ? ['state'] : [];
  const collect = (value: unknown): readonly string[] => {
    if (typeof value !== 'object' || value === null) return [];
    const here = isNode(value) ? impurityOf(value) : null;
    return [...(here === null ? [] : [here]), ...childrenOf(value).flatMap(collect)];
  };
  return [...new Set([...own, ...collect(module)])];
};

/** The names that a file exports; a schema and its type under one name are one. */
export const namesExportedBy = (source: Source): ReadonlySet<string> => {
  const names = listAt(parse(source), 'body').flatMap((item) => {
    const listed = listAt(item, 'specifiers').map(
      (specifier) => textAt(specifier, 'exported', 'value') ?? textAt(specifier, 'orig', 'value'),
    );
    if (!isNode(item) || !item.type.startsWith('Export')) return [];
    const declaration = field(item, 'declaration');
    const many = listAt(declaration, 'declarations');
    return [...listed, ...(many.length > 0 ? many : [declaration]).map((node) => (isNode(node) ? declaredNameOf(node) : null))];
  });
  return new Set(names.filter((name) => name !== null));
};

const declaredNameOf = (node: Node): string | null => textAt(node, 'id', 'value') ?? textAt(node, 'identifier', 'value');
