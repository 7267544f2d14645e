import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

/** Outside of the repository, since it is as large as Kubernetes and outlives a checkout. */
const CACHE = process.env['CLUSTER_CACHE'] ?? join(homedir(), '.cache/bubbles-cluster');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A cluster on loopback: `api` is an API server that nobody acts upon, `up` has controllers and pretended nodes as well. */
export const startCluster = async (extent: 'api' | 'up', port: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  const environment = { ...process.env, CLUSTER_CACHE: CACHE, CLUSTER_PORT: String(port), KUBECONFIG: join(folder, 'kubeconfig') };
  const script = (verb: string) => run('bash', [join(import.meta.dirname, 'control-plane.sh'), verb, folder], { env: environment });
  /** Whatever it ends with. */
  const command = async (program: string, words: readonly string[], input = ''): Promise<Ended> => {
    const child = spawn(program, words, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: Number(code), stdout, stderr };
  };
  await script(extent);
  return {
    command,
    kubectl: async (...words: readonly string[]): Promise<string> =>
      (await run('kubectl', [...words], { env: environment, maxBuffer: MAX_OUTPUT_BYTES })).stdout.trim(),
    /** As it would be applied: what the API server says of it. */
    judge: (manifests: string): Promise<Ended> =>
      command('kubectl', ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename', '-'], manifests),
    async stop() {
      await script('down');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** The folder of a module of Go, as it was published. */
export const moduleFolder = async (name: string): Promise<string> => {
  const path = `${process.env['PATH']}:/usr/local/go/bin`;
  const { stdout } = await run('go', ['mod', 'download', '-json', name], { env: { ...process.env, PATH: path } });
  return JSON.parse(stdout).Dir;
};
