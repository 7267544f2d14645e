import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GATEWAY, SERVICES } from '@bubbles/contracts/services.ts';
import type { Cell, Table, Verdict } from '../harness/part.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const LIMIT_MB = 30;
const BYTES_PER_MB = 1024 * 1024;
/** The reference page of the gateway. */
const PAGE = 'swagger-ui-dist';
const INSTALL = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];

const megabytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((bytes, { parentPath, name }) => bytes + statSync(join(parentPath, name)).size, 0) / BYTES_PER_MB;

/** What the Dockerfile installs of each service, in megabytes of content. */
export const installedSizes = (): { readonly table: Table; readonly verdicts: readonly Verdict[] } => {
  const rows: Cell[][] = [];
  for (const service of [GATEWAY, ...Object.keys(SERVICES)]) {
    const folder = mkdtempSync(join(tmpdir(), 'bench-part-'));
    execFileSync(process.execPath, ['deploy/docker/part.ts', `services/${service}`, folder], { cwd: ROOT });
    const cwd = join(folder, 'manifests');
    execFileSync('npm', ['ci', '--workspace', `services/${service}`, ...INSTALL], { cwd, stdio: 'inherit' });
    const modules = join(cwd, 'node_modules');
    const page = service === GATEWAY ? megabytesIn(join(modules, PAGE)) : 0;
    rows.push([service, megabytesIn(modules) - page, page]);
    rmSync(folder, { recursive: true });
  }
  return {
    table: { title: 'Packages in the image of each service', columns: ['service', 'MB', 'MB of the reference page'], rows },
    verdicts: rows.map(([service, mb]) => ({
      target: 'image',
      what: `${service}: MB of node_modules`,
      figure: Number(mb),
      limit: LIMIT_MB,
      wanted: 'most',
    })),
  };
};
