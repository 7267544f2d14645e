import { readQuery } from './promql.ts';
import type { Figure, Sample } from './running.ts';

const HISTOGRAM_SERIES = /_(bucket|sum|count)$/;

const figureOf = (figures: readonly Figure[], series: string): Figure | null => {
  const exact = figures.find(({ name }) => name === series);
  if (exact !== undefined) return exact.type === 'histogram' ? null : exact;
  const histogram = figures.find(({ name, type }) => type === 'histogram' && name === series.replace(HISTOGRAM_SERIES, ''));
  return histogram === undefined ? null : { ...histogram, labels: [...histogram.labels, ...(series.endsWith('_bucket') ? ['le'] : [])] };
};

interface Shown {
  readonly figures: readonly Figure[];
  readonly samples: readonly Sample[];
}

/** What a query, and the texts beside it with `{{label}}`, name that no running process shows. */
export const unknownIn = ({ figures, samples }: Shown, expr: string, texts: readonly string[] = []): readonly string[] => {
  const { selectors, grouping } = readQuery(expr);
  const known = selectors.map(({ name, matchers }) => ({ name, matchers, figure: figureOf(figures, name) }));
  const labels = new Set(known.flatMap(({ figure }) => figure?.labels ?? []));
  const written = texts.flatMap((text) => [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label));
  const values = (name: string, label: string) =>
    new Set(samples.filter((sample) => sample.name === name).map((sample) => sample.labels[label]));
  return [
    ...known.filter(({ figure }) => figure === null).map(({ name }) => name),
    ...known.flatMap(({ name, figure, matchers }) =>
      matchers.filter(({ label }) => figure !== null && !figure.labels.includes(label)).map(({ label }) => `${name}{${label}}`),
    ),
    ...known.flatMap(({ name, matchers }) =>
      matchers
        .filter(({ label, operator, value }) => operator === '=' && values(name, label).size > 0 && !values(name, label).has(value))
        .map(({ label, value }) => `${name}{${label}="${value}"}`),
    ),
    ...[...grouping, ...written].filter((label) => !labels.has(label)),
  ];
};
