import type { Change } from './changes.ts';
import { isJson, type Json } from './releases.ts';

/** Two versions of one document. */
export interface Pair {
  readonly base: Json;
  readonly revision: Json;
  /** `2026-11-29`: what was to go by then may be gone. */
  readonly today: string;
}

export const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

export const valueAt = (document: unknown, steps: readonly string[]): unknown =>
  steps.reduce<unknown>((node, step) => (typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined), document);

export const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options']);

/** The parameter that a pointer leads into, by the document that it is in. */
const parameterAt = (document: Json, pointer: string | undefined): string | null => {
  const steps = stepsOf(pointer ?? '');
  const index = steps.indexOf('parameters');
  const parameter = index < 0 ? undefined : valueAt(document, steps.slice(0, index + 2));
  if (!isJson(parameter)) return null;
  return parameter['in'] === 'header'
    ? `header ${String(parameter['name'])}`
    : `${String(parameter['in'])} parameter ${String(parameter['name'])}`;
};

/** The steps below an operation, in words. */
const fieldOf = (steps: readonly string[], parameter: string | null): string => {
  const words: string[] = [];
  let path = '';
  for (let index = 0; index < steps.length; index++) {
    const [step, next = ''] = [steps[index], steps[index + 1]];
    if (step === 'parameters') words.push(parameter ?? 'parameters');
    else if (step === 'requestBody') words.push('request');
    else if (step === 'responses') words.push(`answer ${next}`);
    else if (step === 'headers') words.push(`header ${next}`);
    else if (step === 'properties') path += next === '' || path === '' ? next : `.${next}`;
    else if (step === 'items') path += '[]';
    else continue;
    if (step !== 'requestBody' && step !== 'items') index += 1;
  }
  return [...words, path].filter((word) => word !== '').join(', ');
};

export interface Spot {
  readonly place: string;
  readonly field: string;
}

export const spotOf = ({ kind, path, property, base, revision }: Change, pair: Pair): Spot => {
  const found = stepsOf(path);
  const steps = property === 'key' && typeof base?.value === 'string' ? [...found.slice(0, -1), base.value] : found;
  const parameter =
    parameterAt(pair.base, base?.pointer) ??
    parameterAt(pair.revision, revision?.pointer) ??
    parameterAt(kind === 'removed' ? pair.base : pair.revision, path);
  const [area, name = '', method = '', ...rest] = steps;
  if (area === 'paths' && METHODS.has(method)) return { place: `${method.toUpperCase()} ${name}`, field: fieldOf(rest, parameter) };
  if (area === 'paths') return { place: name, field: '' };
  if (area === 'webhooks') return { place: name, field: fieldOf(rest, parameter) };
  if (area === 'channels') return { place: name, field: fieldOf(rest, parameter) };
  if (area === 'operations') return { place: name.replace(/^.*\.(send|receive)\./, ''), field: name };
  return { place: steps.slice(0, 3).join(' '), field: steps.slice(3).join(' ') };
};
