import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { baseImage, buildImage, command, imageOf, podman } from '../images/engine.ts';
import { PARTS } from '../kubernetes/rules.ts';
import { CACHE } from './cluster.ts';

const STAND_INS = ['pause', 'coredns', 'rabbitmq', 'mongodb', 'mailpit'];

/** An archive of the image of each part and of what stands in for images of others, by the tags that the overlay of a laptop names; kept until one changes. */
export const imageArchive = async (): Promise<string> => {
  const base = await baseImage();
  for (const { workspace } of PARTS) {
    await buildImage(workspace, base);
    await podman('tag', imageOf(workspace), `${imageOf(workspace)}:local`);
  }
  await command('bash', 'test/cluster/stand-ins.sh', base);
  const names = [...PARTS.map(({ workspace }) => imageOf(workspace)), ...STAND_INS.map((name) => `localhost/stand-in/${name}`)];
  const tags = names.map((name) => `${name}:local`);
  const ids = await podman('image', 'inspect', '--format', '{{.Id}}', ...tags);
  const folder = join(CACHE, 'images');
  const archive = join(folder, `${createHash('sha256').update(ids).digest('hex')}.tar`);
  if (existsSync(archive)) return archive;
  mkdirSync(folder, { recursive: true });
  for (const old of readdirSync(folder)) rmSync(join(folder, old));
  await podman('save', '--quiet', '--multi-image-archive', '--output', `${archive}.part`, ...tags);
  renameSync(`${archive}.part`, archive);
  return archive;
};
