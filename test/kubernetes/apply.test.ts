import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const APPLY = join(import.meta.dirname, '../../deploy/kubernetes/apply.sh');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'apply-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What apply.sh asks of a kubectl that fails on `failing`, and its exit code. */
const applied = async (failing: string) => {
  const [calls, kubectl] = [join(folder, 'calls'), join(folder, 'kubectl')];
  writeFileSync(
    kubectl,
    `#!/usr/bin/env bash
echo "$*" >>"${calls}"
case "$*" in
  *"${failing}"*) echo 'TLS handshake timeout' >&2; exit 1 ;;
  kustomize*) printf 'kind: Namespace\\nmetadata:\\n  name: bubbles\\n' ;;
  get\\ job*) echo job/topology ;;
esac
`,
  );
  chmodSync(kubectl, 0o755);
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
  const code = await new Promise((resolve) => {
    execFile('bash', [APPLY, 'overlay'], { env }, (error) => resolve(error?.code ?? 0));
  });
  return { code, calls: readFileSync(calls, 'utf8') };
};

const SERVERS = 'component in (service,gateway)';

it('waits for the jobs before it touches a server', async () => {
  const { code, calls } = await applied('nothing of it');
  expect(code).toBe(0);
  expect(calls.indexOf('wait --namespace bubbles --for condition=complete job/topology')).toBeGreaterThan(0);
  expect(calls.indexOf(SERVERS)).toBeGreaterThan(calls.indexOf('wait --namespace'));
});

it.each(['get statefulset', 'get job', 'wait --namespace'])('touches no server when "%s" fails', async (failing) => {
  const { code, calls } = await applied(failing);
  expect(code).not.toBe(0);
  expect(calls).not.toContain(SERVERS);
});
