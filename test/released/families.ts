import { join } from 'node:path';
import { z } from 'zod';
import type { Break } from './compare.ts';
import { NAME_SAMPLES } from './name-samples.ts';
import { folderOf, readJson } from './releases.ts';
import { newKeys, readKeys, sampleBreaks } from './samples.ts';
import { SERVICE_SAMPLES } from './service-samples.ts';
import { TOKEN_SAMPLES } from './token-samples.ts';

/** Every kind of bytes that outlives the process which wrote them. */
export const FAMILIES = [...TOKEN_SAMPLES, ...NAME_SAMPLES, ...SERVICE_SAMPLES];

const Written = z.object({ keys: z.unknown(), samples: z.record(z.string(), z.unknown()) });
export type WrittenSamples = z.infer<typeof Written>;

export const makeSamples = async (): Promise<WrittenSamples> => {
  const keys = newKeys();
  const made = FAMILIES.map(async ({ name, make }) => [name, await make(readKeys(keys), null)] as const);
  return { keys, samples: Object.fromEntries(await Promise.all(made)) };
};

export const samplesOf = (release: number): WrittenSamples => Written.parse(readJson(join(folderOf(release), 'samples.json')));

export const breaksOfSamples = ({ keys, samples }: WrittenSamples): Promise<readonly Break[]> =>
  sampleBreaks(FAMILIES, samples, readKeys(keys));
