import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '@bubbles/host/service.ts';
import { describe, expect, it } from '@jest/globals';
import type { AdminCall, Command } from '../../deploy/admin/src/command.ts';
import { COMMANDS, usageOf } from '../../deploy/admin/src/commands.ts';
import { everyService } from '../support/services.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/operators.md'), 'utf8');
const services = everyService();

const FLAGS: Readonly<Record<string, string>> = { name: 'x', plan: 'pro', from: '2026-11-01T00:00:00Z', stuck: 'true' };
const WORDS: Readonly<Record<string, string>> = { consumer: 'bubbles-query', 'redirect-uri': 'https://x.test/callback' };

/** The requests that a command sends, as the first words and flags that it takes make them. */
const requestsOf = ({ words, flags, call }: Command): readonly AdminCall[] => {
  const given = Object.keys(flags).flatMap((flag) => (flag in FLAGS ? [[flag, flag === 'stuck' ? true : FLAGS[flag]]] : []));
  const made = call(
    words.map((word) => WORDS[word] ?? word.split('|', 1).join()),
    Object.fromEntries(given),
  );
  if ('deadLetters' in made) return [];
  if ('seals' in made) return made.services.map((service) => ({ service, method: 'POST', path: 'seals', body: {} }));
  return ['pages' in made ? made.call : made];
};

const specOf = ({ service, method, path }: AdminCall): Service['routes'][number]['spec'] => {
  const routes = services.find(({ name }) => name === service)?.routes ?? [];
  const isIt = (template: string) =>
    new RegExp(
      `^/internal/v1/admin/${path.split('?', 1).join()}$`.replaceAll(/(?<=\/)[^/^$]+(?=\/|\$$)/g, (part) => `(?:${part}|\\{\\w+\\})`),
    ).test(template);
  const found = routes.filter(({ spec }) => spec.method === method && isIt(spec.path));
  expect([service, method, path, found.length]).toEqual([service, method, path, 1]);
  // One was found.
  return (found[0] as Service['routes'][number]).spec;
};

const named = ({ path, audit }: ReturnType<typeof specOf>): string =>
  [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    ...(audit?.body ?? []),
    ...(audit?.answer ?? []).map((name) => `answer: ${name}`),
  ]
    .map((name) => `\`${name}\``)
    .join(', ');

const rowOf = ([name, command]: readonly [string, Command]): string => {
  const specs = requestsOf(command).map(specOf);
  const [spec] = specs;
  const dryRun = 'dry-run' in command.flags ? 'yes' : '';
  const does = spec === undefined ? BROKER[name] : spec.summary;
  const told = spec === undefined ? 'no line: the broker is asked, not a service' : named(spec) || 'only who and which operation';
  return `| \`${usageOf([name, command]).replaceAll('|', '\\|')}\` | ${does} | ${dryRun} | ${told} |`;
};
const BROKER: Readonly<Record<string, string>> = {
  'dead-letters list': 'List messages that a consumer could not take',
  'dead-letters redrive': 'Put messages that a consumer could not take back into its queue',
};

describe('the commands of operators', () => {
  it('stand in docs/operators.md as the code has them, with what their audit lines name', () => {
    const rows = DOCUMENT.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows).toEqual(Object.entries(COMMANDS).map(rowOf));
  });

  it('reach every route for operators but those of the simulated notetaker', () => {
    const reached = Object.values(COMMANDS)
      .flatMap(requestsOf)
      .map((call) => specOf(call).operationId);
    // A dry run asks what another command asks.
    const all = services.flatMap(({ routes }) => routes.filter(({ spec }) => spec.audit !== undefined).map(({ spec }) => spec.operationId));
    expect(all.filter((id) => !reached.includes(id)).toSorted()).toEqual(['adminListJoins', 'adminListNotetakers', 'adminReportNotetaker']);
  });
});
