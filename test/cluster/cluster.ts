import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

/** As node.sh says. */
export const NODE_ADDRESS = '10.10.0.1';
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

/** Outside of the repository, since it is as large as Kubernetes and outlives a checkout. */
export const CACHE = process.env['CLUSTER_CACHE'] ?? join(homedir(), '.cache/bubbles-cluster');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const environmentOf = (folder: string) => ({ ...process.env, CLUSTER_CACHE: CACHE, KUBECONFIG: join(folder, 'kubeconfig') });

/** Commands against the cluster of the folder; `within` leads to where it can be reached. */
const clientOf = (folder: string, within: readonly string[]) => {
  const env = environmentOf(folder);
  /** Whatever it ends with. */
  const command = async (program: string, words: readonly string[], input = ''): Promise<Ended> => {
    const [first = '', ...rest] = [...within, program, ...words];
    const child = spawn(first, rest, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: Number(code), stdout, stderr };
  };
  return {
    command,
    kubectl: async (...words: readonly string[]): Promise<string> => {
      const [first = '', ...rest] = [...within, 'kubectl', ...words];
      return (await run(first, rest, { env, maxBuffer: MAX_OUTPUT_BYTES })).stdout.trim();
    },
    /** As it would be applied: what the API server says of it. */
    judge: (manifests: string): Promise<Ended> =>
      command('kubectl', ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename', '-'], manifests),
  };
};

/** A cluster on loopback: `api` is an API server that nobody acts upon, `up` has controllers and pretended nodes as well. */
export const startCluster = async (extent: 'api' | 'up', port: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  const env = { ...environmentOf(folder), CLUSTER_PORT: String(port) };
  const script = (verb: string) => run('bash', [join(import.meta.dirname, 'control-plane.sh'), verb, folder], { env });
  await script(extent);
  return {
    ...clientOf(folder, []),
    async stop() {
      await script('down');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A cluster of one real node, whose pods run the images of the archive. It ends with this process at the latest. */
export const startNode = async (images: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  const script = spawn('bash', [join(import.meta.dirname, 'node.sh'), folder, images], {
    env: environmentOf(folder),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(script, 'close');
  const faults = text(script.stderr);
  const isReady = await Promise.race([once(createInterface(script.stdout), 'line').then(() => true), ended.then(() => false)]);
  if (!isReady) throw new Error(`the node did not start: ${await faults}`);
  const inside = readFileSync(join(folder, 'inside.pid'), 'utf8').trim();
  return {
    ...clientOf(folder, ['nsenter', '--target', inside, '--mount', '--net', '--pid', '--']),
    /** The process in whose namespaces it lives. */
    inside,
    async stop() {
      script.stdin.end();
      await ended;
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
