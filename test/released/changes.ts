import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { ROOT } from '../architecture/sources.ts';
import type { Json } from './releases.ts';

const REDOCLY = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');

const Side = z.object({ pointer: z.string(), value: z.unknown().optional() });
const Change = z.object({
  /** From the root, through references: where readers meet it first. */
  path: z.string(),
  typeName: z.string(),
  kind: z.enum(['added', 'removed', 'modified']),
  /** Of a modified node. */
  property: z.string().optional(),
  base: Side.optional(),
  revision: Side.optional(),
  /** What the tool itself finds; empty where it has no rule. */
  verdicts: z.array(z.object({ ruleId: z.string(), impact: z.string(), message: z.string() })),
});
export type Change = z.infer<typeof Change>;
const Report = z.object({ changes: z.array(Change) });

const run = promisify(execFile);

/** Every difference of two OpenAPI or AsyncAPI documents, by `redocly diff`. It asks nobody: no network, no telemetry. */
export const changesBetween = async (base: Json, revision: Json): Promise<readonly Change[]> => {
  const [before, after] = [JSON.stringify(base), JSON.stringify(revision)];
  if (before === after) return [];
  const folder = mkdtempSync(join(tmpdir(), 'contracts-'));
  try {
    const [baseFile, revisionFile, report] = ['base.json', 'revision.json', 'report.json'].map((name) => join(folder, name));
    if (baseFile === undefined || revisionFile === undefined || report === undefined) return [];
    writeFileSync(baseFile, before);
    writeFileSync(revisionFile, after);
    await run(process.execPath, [REDOCLY, 'diff', baseFile, revisionFile, '--format', 'json', '--fail-on', 'none', '-o', report], {
      cwd: folder,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    return Report.parse(JSON.parse(readFileSync(report, 'utf8'))).changes;
  } finally {
    rmSync(folder, { recursive: true });
  }
};
