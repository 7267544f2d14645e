import { readdirSync, readFileSync } from 'node:fs';
import { GATEWAY, SERVICES } from '@bubbles/contracts/services.ts';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { unknownIn } from './naming.ts';
import { readQuery } from './promql.ts';
import { runningFigures } from './running.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const Rule = z.strictObject({
  alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+[smh]$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook_url: z.string() }),
});
const Rules = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(Rule).min(1) })) });
const rules = Rules.parse(parse(read('deploy/observability/alerts.yaml'))).groups.flatMap((group) => group.rules);

const Panel = z.object({
  title: z.string(),
  type: z.string(),
  targets: z.array(z.object({ expr: z.string(), legendFormat: z.string().default('') })).default([]),
});
const Dashboard = z.object({ title: z.string(), uid: z.string(), schemaVersion: z.int(), panels: z.array(Panel).min(1) });
const FOLDER = 'deploy/observability/dashboards';
const dashboards = readdirSync(new URL(`../../${FOLDER}`, import.meta.url)).map((file) =>
  Dashboard.parse(JSON.parse(read(`${FOLDER}/${file}`))),
);
const panels = dashboards.flatMap(({ title, panels }) =>
  panels
    .filter(({ type }) => type !== 'row')
    .flatMap((panel) => panel.targets.map((target) => ({ ...target, at: `${title}: ${panel.title}` }))),
);

let shown: Awaited<ReturnType<typeof runningFigures>>;
beforeAll(async () => {
  shown = await runningFigures();
});

describe('what is named of the figures', () => {
  it('is known wrong when no process shows it', () => {
    const planted = (expr: string, ...texts: string[]) => unknownIn(shown, expr, texts);
    expect(planted('rate(outbox_lost_total[5m]) > 0')).toEqual(['outbox_lost_total']);
    expect(planted('process_ready{zone=~"a|b"} == 0')).toEqual(['process_ready{zone}']);
    expect(planted('sum by (pod) (job_failures_total)')).toEqual(['pod']);
    expect(planted('bus_publish_seconds{outcome="failed"}')).toEqual(['bus_publish_seconds']);
    expect(planted('bus_publish_seconds_count{outcome="lost"}')).toEqual(['bus_publish_seconds_count{outcome="lost"}']);
    expect(planted('process_ready == 0', '{{ $labels.queue }}')).toEqual(['queue']);
    expect(() => planted('sum by (a) rate(process_ready[')).toThrow('not PromQL');
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))('by the alert %s is shown by a running process', (_, { expr, annotations }) => {
    expect(unknownIn(shown, expr, [annotations.summary])).toEqual([]);
  });

  it.each(panels.map((panel) => [panel.at, panel] as const))(
    'by the panel %s is shown by a running process',
    (_, { expr, legendFormat }) => {
      expect(unknownIn(shown, expr.replaceAll('$__rate_interval', '5m'), [legendFormat])).toEqual([]);
    },
  );

  it('has names and labels of ours: no id, no address and no token', () => {
    const own = shown.figures.filter(({ name }) => !/^(nodejs|process_(?!ready))/.test(name));
    expect(own.length).toBeGreaterThan(30);
    expect(own.filter(({ name, type }) => (type === 'counter') !== name.endsWith('_total')).map(({ name }) => name)).toEqual([]);
    expect(own.flatMap(({ labels }) => labels).filter((label) => /id$|user|email|token|url|path|query/.test(label))).toEqual([]);
  });
});

describe('alerts', () => {
  it('have one name each', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  it('miss each service of which no process runs, since its figures are gone then', () => {
    const absences = rules.flatMap(({ expr }) => expr.match(/absent\([^)]*\)/g) ?? []).flatMap((absence) => readQuery(absence).selectors);
    expect(absences.map(({ name, matchers }) => [name, ...matchers.map(({ label, operator, value }) => label + operator + value)])).toEqual(
      [GATEWAY, ...Object.keys(SERVICES)].toSorted().map((service) => ['process_ready', `service=${service}`]),
    );
  });

  it('are each seen to fire by promtool', () => {
    const Case = z.object({ promql_expr_test: z.array(z.object({ exp_samples: z.array(z.object({ labels: z.string() })) })) });
    const { tests } = z.object({ tests: z.array(Case) }).parse(parse(read('test/observability/alert-cases.yaml')));
    const labels = tests.flatMap(({ promql_expr_test }) =>
      promql_expr_test.flatMap(({ exp_samples }) => exp_samples.map((one) => one.labels)),
    );
    expect(rules.map(({ alert }) => alert).filter((alert) => !labels.some((text) => text.includes(`alertname="${alert}"`)))).toEqual([]);
  });

  it('cover what operators ask for first', () => {
    const text = rules.map(({ expr }) => expr).join('\n');
    for (const figure of [
      'outbox_oldest_waiting_seconds',
      'bus_dead_letters',
      'bus_messages_redelivered_total',
      'bus_consumer_consuming',
      'job_last_success_timestamp_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'process_ready',
      '14.4 *',
      ' 6 *',
    ])
      expect(text).toContain(figure);
  });
});
