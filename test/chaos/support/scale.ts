/** `CHAOS=long` does all of it ten times over. */
export const LONG = process.env['CHAOS'] === 'long';

export const scaled = ({ short, long }: { readonly short: number; readonly long: number }): number => (LONG ? long : short);

/** A figure of the run, for who reads its output. */
export const report = (what: string, figures: Readonly<Record<string, number | string>>): void => {
  const text = Object.entries(figures).map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 10) / 10 : value}`);
  process.stdout.write(`      ${what}: ${text.join(', ')}\n`);
};
