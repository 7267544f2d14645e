/** What a part is told. */
export interface PartOptions {
  /** Shorter, for a first look: the figures are rougher. */
  readonly quick: boolean;
  /** Also what takes minutes (a million bubbles). */
  readonly large: boolean;
}

/** A value of a table: a figure, or the name of a row. */
export type Cell = string | number | null;

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A figure held against its limit. */
export interface Verdict {
  /** As the design documents number it. */
  readonly target: string;
  readonly what: string;
  readonly figure: number;
  readonly limit: number;
  /** Whether the figure should lie above or below its limit. */
  readonly wanted: 'least' | 'most';
}

export interface Outcome {
  readonly tables: readonly Table[];
  readonly verdicts: readonly Verdict[];
  /** What a reader must know to judge the figures. */
  readonly notes: readonly string[];
}

export type Part = (options: PartOptions) => Promise<Outcome>;

export const isMet = ({ figure, limit, wanted }: Verdict): boolean => (wanted === 'least' ? figure >= limit : figure <= limit);

const DIGITS = 3;

const shown = (cell: Cell): string => {
  if (cell === null) return '-';
  if (typeof cell === 'string') return cell;
  return Math.abs(cell) >= 100 ? Math.round(cell).toLocaleString('en') : String(Number(cell.toPrecision(DIGITS)));
};

const lined = (columns: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const lines = [columns, ...rows.map((row) => row.map(shown))];
  const widths = columns.map((_, at) => lines.reduce((most, line) => Math.max(most, (line[at] ?? '').length), 0));
  return lines
    .map((line) => line.map((text, at) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0))).join('  '))
    .join('\n');
};

/** As it is read on a terminal. */
export const report = (name: string, { tables, verdicts, notes }: Outcome): string => {
  const parts = tables.map(({ title, columns, rows }) => `${title}\n${lined(columns, rows)}`);
  const judged = verdicts.map(({ target, what, figure, limit, wanted, ...rest }) => [
    isMet({ target, what, figure, limit, wanted, ...rest }) ? 'met' : 'MISSED',
    target,
    what,
    figure,
    `${wanted === 'least' ? '>=' : '<='} ${limit}`,
  ]);
  if (judged.length > 0) parts.push(lined(['verdict', 'target', 'of', 'figure', 'limit'], judged));
  return [`\n== ${name}`, ...parts, ...notes].join('\n\n');
};
