import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** With a profile of its own that goes with it. */
export const startChromium = (): Promise<Browser> => chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });

const SCHEMES = ['light', 'dark'] as const;

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const violationsOn = async (page: Page): Promise<readonly Violation[]> => {
  // Evaluated from outside, so that the page's policy, which admits no script, stands.
  await page.evaluate(axe.source);
  return page.evaluate<readonly Violation[]>('axe.run(document).then(({ violations }) => violations)');
};

/** What axe finds on the page that is serious or worse, in either colour scheme, a line each. */
export const accessibilityFaults = async (page: Page): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    for (const { id, impact, nodes } of await violationsOn(page))
      if (impact === 'serious' || impact === 'critical')
        for (const { html, failureSummary = '' } of nodes) faults.push(`${page.url()} ${colorScheme} ${id}: ${html} ${failureSummary}`);
  }
  await page.emulateMedia({ colorScheme: null });
  return faults;
};
