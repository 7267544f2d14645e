import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from './sources.ts';

const BIN = join(ROOT, 'node_modules/.bin/depcruise');
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');

const Report = z.object({
  summary: z.object({
    totalCruised: z.int(),
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

/** The layer rules over folders below `cwd`; a violation is a row of the report, not a failure of the run. */
export const cruise = (cwd: string, folders: readonly string[]): z.infer<typeof Report>['summary'] => {
  const output = execFileSync(process.execPath, [BIN, '--config', CONFIG, '--output-type', 'json', ...folders], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return Report.parse(JSON.parse(output)).summary;
};
