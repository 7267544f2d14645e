import { RESPONSE_COMPONENTS } from '../../architecture/interface-components.ts';

const PRIMITIVES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

/** The options of `a | (b | c)[]` on its outermost level. */
function optionsOf(type: string): string[] {
  const options = [''];
  let depth = 0;
  for (const sign of type.replaceAll(' ', '')) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (sign === '|' && depth === 0) options.push('');
    else options.push(`${options.pop()}${sign}`);
  }
  return options;
}

const inner = (list: string): string => list.slice(0, -2).replace(/^\((.*)\)$/, '$1');

function typeFaults(type: string, value: unknown, at: string): string[] {
  const faults = optionsOf(type).map((option) => optionFaults(option, value, at));
  return faults.some((found) => found.length === 0) ? [] : (faults[0] ?? []);
}

function optionFaults(option: string, value: unknown, at: string): string[] {
  if (option.endsWith('[]'))
    return Array.isArray(value)
      ? value.flatMap((item, n) => typeFaults(inner(option), item, `${at}[${n}]`))
      : [`${at} is not a list: ${JSON.stringify(value)}`];
  const primitive = PRIMITIVES[option];
  if (primitive !== undefined) return primitive(value) ? [] : [`${at} is not ${option}: ${JSON.stringify(value)}`];
  if (Object.hasOwn(RESPONSE_COMPONENTS, option)) return shapeFaults(option, value, at);
  return value === option ? [] : [`${at} is not ${option}: ${JSON.stringify(value)}`];
}

/** Where a value is not what section 2 of the interface says of the type: a field that is missing, too many, or of another type. */
export function shapeFaults(name: string, value: unknown, at = name): string[] {
  const fields = RESPONSE_COMPONENTS[name];
  if (fields === undefined) throw new Error(`the interface has no type ${name}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at} is not an object: ${JSON.stringify(value)}`];
  const faults: string[] = [];
  const known = new Set<string>();
  for (const [written, type] of Object.entries(fields)) {
    const field = written.replace('?', '');
    known.add(field);
    if (Object.hasOwn(value, field))
      for (const one of typeFaults(type, Object.entries(value).find(([key]) => key === field)?.[1], `${at}.${field}`)) faults.push(one);
    else if (!written.endsWith('?')) faults.push(`${at}.${field} is missing`);
  }
  return [...faults, ...Object.keys(value).flatMap((key) => (known.has(key) ? [] : [`${at}.${key} is not in the interface`]))];
}
