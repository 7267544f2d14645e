import { existsSync, readFileSync } from 'node:fs';
import { GATEWAY, SERVICES } from '@bubbles/contracts/services.ts';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { operatorCall } from '../../deploy/admin/src/commands.ts';
import { productSources } from '../architecture/sources.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Alert {
  readonly alert: string;
  readonly annotations: { readonly runbook_url: string };
}
// Its shape is proved in rules.test.ts.
const groups = (parse(read('deploy/observability/alerts.yaml')) as { readonly groups: readonly { readonly rules: readonly Alert[] }[] })
  .groups;
const alerts = groups.flatMap(({ rules }) => rules);

const [, ...parts] = read('docs/runbooks.md').split(/^## /m);
const sections = new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part] as const));
const BLOCK = /^```sh\n(.*?)^```/gms;
const commandsIn = (text: string): readonly string[] => [...text.matchAll(BLOCK)].flatMap(([, block = '']) => block.trim().split('\n'));
const commands = commandsIn(read('docs/runbooks.md'));

const KUBECTL = ['get', 'describe', 'logs', 'exec', 'top', 'patch', 'rollout', 'delete', 'port-forward'];
const RABBITMQCTL = [
  'authenticate_user',
  'eval',
  'list_bindings',
  'list_consumers',
  'list_permissions',
  'list_queues',
  'list_topic_permissions',
  'list_vhosts',
  'status',
];
const VHOST: string = JSON.parse(read('deploy/rabbitmq/definitions.json')).vhosts[0].name;
const DEPLOYMENTS: readonly string[] = [GATEWAY, ...Object.keys(SERVICES)];

/** Why nobody could type it; null when they can. */
const faultIn = (command: string): string | null => {
  const [tool, first = ''] = command.split(/\s+/);
  if (tool === 'npm') return faultOfNpm(command);
  if (tool === 'kubectl' && KUBECTL.includes(first)) {
    const named = [...command.matchAll(/(?:deploy\/|hpa (?=\w)|kubernetes\.io\/name=)([\w-]+)/g)].map(([, name = '']) => name);
    return named.find((name) => !DEPLOYMENTS.includes(name)) ?? null;
  }
  if (tool?.startsWith('deploy/')) return command.split(' ').find((path) => !existsSync(new URL(`../../${path}`, import.meta.url))) ?? null;
  if (tool === 'rabbitmqctl' && RABBITMQCTL.includes(first)) return looksIntoOurVhost(command) ? null : command;
  return tool === 'curl' || tool === 'mongosh' ? null : command;
};
/** Without a vhost in its words, rabbitmqctl looks into `/`, and shows nothing of ours. */
const looksIntoOurVhost = (command: string): boolean => {
  if (/^rabbitmqctl (status|list_vhosts|authenticate_user)\b/.test(command)) return true;
  return command.includes(` -p ${VHOST}`) || command.includes(`list_to_atom("${VHOST}_<queue>")`);
};
const faultOfNpm = (command: string): string | null => {
  const [, script = '', words = ''] = /^npm run (\S+) -- (.*)$/.exec(command) ?? [];
  if (script !== 'admin') return command;
  try {
    operatorCall(words.split(' '));
    return null;
  } catch (error) {
    return String(error);
  }
};

describe('runbooks', () => {
  it('there is one for each alert, and none besides', () => {
    expect([...sections.keys()]).toEqual(expect.arrayContaining(alerts.map(({ alert }) => alert)));
    expect([...sections.keys()].filter((name) => !alerts.some(({ alert }) => alert === name))).toEqual([]);
    for (const { alert, annotations } of alerts) expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
  });

  it.each([...sections])('%s says what it means, what to look at, what to type and when to worry', (_, text) => {
    for (const part of ['**Means.**', '**Look at.**', '**Type.**', '**Worry when**']) expect(text).toContain(part);
    expect(commandsIn(text).length).toBeGreaterThan(0);
  });

  it('name commands that there are', () => {
    for (const planted of [
      'npm run admin -- dead-letters drop signup',
      'kubectl logs deploy/bubbles',
      // The autoscaler sets the number back.
      'kubectl scale deploy/gateway --replicas=4',
      'rabbitmqctl purge_all',
      'rabbitmqctl list_queues name messages',
      'rabbitmqctl list_queues -p / name messages',
      `rabbitmqctl eval 'ra:trigger_election({list_to_atom("%2F_<queue>"), node()}).'`,
      'deploy/run.sh',
      'rm -rf /',
    ])
      expect(faultIn(planted)).not.toBeNull();
    expect(commands.map(faultIn).filter((fault) => fault !== null)).toEqual([]);
  });

  it('look for lines that processes write', () => {
    const product = productSources()
      .map(({ text }) => text)
      .join('\n');
    const texts = commands.flatMap((command) => [...command.matchAll(/grep '?([^'"]+?)'?$/g)].map(([, text = '']) => text));
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => !product.includes(text.trim()))).toEqual([]);
  });
});
