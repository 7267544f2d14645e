import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { MANIFESTS } from './cluster-objects.ts';

interface Run {
  /** Below `deploy/kubernetes`, with its arguments. */
  readonly command: readonly [script: string, ...words: readonly string[]];
  /** Patterns and commands of bash, the first that matches the words of a call: `get\ job*) echo job/topology ;;`. `calls` names the file of the calls. */
  readonly answers: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a script of ours asks of a kubectl that stands in for the real one, and how it ends. */
export const runWithKubectl = async ({ command: [script, ...words], answers, env }: Run) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubectl-'));
  try {
    const [calls, kubectl] = [join(folder, 'calls'), join(folder, 'kubectl')];
    writeFileSync(kubectl, `#!/usr/bin/env bash\ncalls="${calls}"\necho "$*" >>"$calls"\ncase "$*" in\n${answers}\nesac\n`);
    chmodSync(kubectl, 0o755);
    const environment = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}`, ...env };
    const ended = await new Promise<{ readonly code: number | string; readonly stderr: string }>((resolve) => {
      execFile('bash', [join(MANIFESTS, script), ...words], { env: environment }, (error, _stdout, stderr) => {
        resolve({ code: error?.code ?? 0, stderr });
      });
    });
    return { ...ended, calls: readFileSync(calls, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
