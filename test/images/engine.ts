import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONFIGURATION = fileURLToPath(new URL('containers.conf', import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

/** What a command wrote to standard output; rejects with what it wrote to standard error when it fails. */
export const command = async (program: string, ...words: readonly string[]): Promise<string> =>
  (
    await run(program, words, { cwd: ROOT, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, CONTAINERS_CONF: CONFIGURATION } })
  ).stdout.trim();

export const podman = (...words: readonly string[]): Promise<string> => command('podman', ...words);

/** Of a service or job, by its folder. */
export const imageOf = (workspace: string): string => `localhost/bubbles/${workspace.split('/').at(-1)}`;

/** `IMAGE_BASE` names an image that can be had here, such as the official one; else one is made of this machine's packages, once. */
export const baseImage = async (): Promise<string> => {
  const given = process.env['IMAGE_BASE'];
  if (given !== undefined) return given;
  const made = 'localhost/node:26-slim';
  const isThere = (await podman('images', '--quiet', made)) !== '';
  if (!isThere) await command('bash', 'deploy/docker/stand-in-base.sh', made);
  return made;
};

interface ImageOptions {
  readonly tag?: string;
  /** Whether it can send spans. */
  readonly tracing?: boolean;
}

export const buildImage = async (
  workspace: string,
  base: string,
  { tag = imageOf(workspace), tracing = false }: ImageOptions = {},
): Promise<void> => {
  await command(
    'buildah',
    ...['--runtime', 'runc', 'bud', '--quiet', '--layers', '--network', 'host', '--file', 'deploy/docker/Dockerfile'],
    ...['--build-arg', `BASE=${base}`, '--build-arg', `SERVICE=${workspace}`],
    ...['--build-arg', `TRACING=${tracing ? 'with' : 'without'}`, '--tag', tag, '.'],
  );
};

/** As Pod Security "restricted" wants it, within the memory that a pod has. */
export const RESTRICTED = [
  ...['--network', 'host', '--read-only', '--tmpfs', '/tmp:noexec', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...['--memory', '256m', '--pids-limit', '100'],
];
