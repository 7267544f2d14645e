import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKeyInput, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Break } from './compare.ts';
import { isJson } from './releases.ts';

/** The keys that samples are made with: drawn by the release, kept beside them, and used for nothing else. */
const Keys = z.object({ ed25519: z.record(z.string(), z.unknown()), p256: z.record(z.string(), z.unknown()), bytes: z.string() });
export type WrittenKeys = z.infer<typeof Keys>;

export interface SampleKeys {
  readonly ed25519: KeyObject;
  readonly p256: KeyObject;
  readonly bytes: Buffer;
}

// A JWK is an object of text to Node's own types too.
const asJwk = (key: unknown): JsonWebKeyInput['key'] => key as JsonWebKeyInput['key'];

export const newKeys = (): WrittenKeys => ({
  ed25519: { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) },
  p256: { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }) },
  bytes: randomBytes(32).toString('hex'),
});
export const readKeys = (written: unknown): SampleKeys => {
  const { ed25519, p256, bytes } = Keys.parse(written);
  const keyOf = (jwk: unknown) => createPrivateKey({ key: asJwk(jwk), format: 'jwk' });
  return { ed25519: keyOf(ed25519), p256: keyOf(p256), bytes: Buffer.from(bytes, 'hex') };
};
export const publicKeyOf = (key: KeyObject): KeyObject => createPublicKey(key);

/** When all samples are made. */
export const SAMPLE_TIME = new Date('2026-01-31T09:30:00.000Z');

/** Bytes that one process writes and another one reads. */
export interface SampleFamily {
  readonly name: string;
  readonly contract: Break['contract'];
  readonly producer: string;
  readonly consumers: string;
  /** What the code of now writes; `sample` is what the release wrote, for who answers what was asked then, and null when there is none yet. */
  make(keys: SampleKeys, sample: unknown): Promise<unknown>;
  /** Why the code of now does not take what the release wrote. */
  refusals?(sample: unknown, keys: SampleKeys): Promise<readonly string[]>;
  /** Fields that differ each time, and prove nothing. */
  readonly drawn?: readonly string[];
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
};

/** What of a sample is no longer so; what is new beside it is not of interest. */
export const lostOf = (sample: unknown, now: unknown, drawn: readonly string[] = [], path = ''): readonly string[] => {
  if (Array.isArray(sample)) {
    if (!Array.isArray(now) || now.length < sample.length) return [`${path || 'the list'} was ${shown(sample)} and is ${shown(now)}`];
    return sample.flatMap((value, index) => lostOf(value, now[index], drawn, `${path}[${index}]`));
  }
  if (isJson(sample)) {
    if (!isJson(now)) return [`${path || 'it'} was ${shown(sample)} and is ${shown(now)}`];
    return Object.entries(sample)
      .filter(([name]) => !drawn.includes(name))
      .flatMap(([name, value]) => lostOf(value, now[name], drawn, path === '' ? name : `${path}.${name}`));
  }
  return Object.is(sample, now) ? [] : [`${path || 'it'} was ${shown(sample)} and is ${shown(now)}`];
};

/** Why processes of now and of the release cannot work side by side. */
export const sampleBreaks = async (
  families: readonly SampleFamily[],
  released: Readonly<Record<string, unknown>>,
  keys: SampleKeys,
): Promise<readonly Break[]> => {
  const found = families.map(async ({ name, contract, producer, consumers, make, refusals, drawn }) => {
    const sample = released[name];
    if (sample === undefined) return [];
    const lost = await make(keys, sample).then(
      (now) => lostOf(sample, now, drawn),
      (error: unknown) => [`it cannot be made any more: ${Error.isError(error) ? error.message : String(error)}`],
    );
    const refused = (await refusals?.(sample, keys)) ?? [];
    const from = { contract, producer, consumers: [consumers], place: name, field: '', remedy: 'bytes' } as const;
    return [...lost, ...refused].map((change): Break => ({ ...from, change }));
  });
  const isMade = (name: string) => families.some((family) => family.name === name);
  const gone = Object.keys(released).filter((name) => !isMade(name));
  return [...(await Promise.all(found)).flat(), ...gone.map((place): Break => ({ ...GONE, place }))];
};

const GONE: Omit<Break, 'place'> = {
  contract: 'internal',
  producer: 'the tree',
  consumers: ['processes of the release'],
  field: '',
  change: 'nobody makes this sample any more',
  remedy: 'bytes',
};
