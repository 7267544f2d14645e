import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The fragments that were committed and came with the image, so that a gateway beside a dead service still knows what it serves. */
export const readBakedFragments = (folder: string, services: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    services
      .map((service) => [service, join(folder, `${service}.json`)] as const)
      .filter(([, path]) => existsSync(path))
      .map(([service, path]) => [service, readFileSync(path, 'utf8')]),
  );
