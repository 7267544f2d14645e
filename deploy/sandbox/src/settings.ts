import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import type { World } from './world.ts';

/** What the sandbox itself keeps beside the services' data. */
export interface SettingDoc {
  readonly _id: string;
  readonly value: unknown;
}

/** The secrets of this data folder; they must outlive a restart, or what is sealed with them would be lost. */
export interface SandboxSecrets {
  readonly sealKey: Buffer;
  readonly cursorKey: Buffer;
  readonly personKey: Buffer;
}

export interface Settings {
  secrets(): Promise<SandboxSecrets>;
  /** How far the clock is ahead of real time, milliseconds. */
  ahead(): Promise<number>;
  keepAhead(ms: number): Promise<void>;
  /** Null before the world has been seeded. */
  world(): Promise<World | null>;
  keepWorld(world: World): Promise<void>;
}

const KEY_BYTES = 32;
const SECRET_NAMES = ['sealKey', 'cursorKey', 'personKey'] as const;

export function settings(collection: Collection<SettingDoc>, ids: Ids): Settings {
  const read = async (name: string) => (await collection.findOne({ _id: name }))?.value ?? null;
  const keep = async (name: string, value: unknown) => {
    await collection.replaceOne({ _id: name }, { _id: name, value }, { upsert: true });
  };
  const secret = async (name: string): Promise<Buffer> => {
    const known = await read(name);
    if (typeof known === 'string') return Buffer.from(known, 'base64');
    const made = ids.bytes(KEY_BYTES);
    await keep(name, made.toString('base64'));
    return made;
  };
  return {
    async secrets() {
      const [sealKey, cursorKey, personKey] = await Promise.all(SECRET_NAMES.map(secret));
      if (!sealKey || !cursorKey || !personKey) throw new Error('the secrets of the data folder are incomplete');
      return { sealKey, cursorKey, personKey };
    },
    async ahead() {
      const ms = await read('ahead');
      return typeof ms === 'number' ? ms : 0;
    },
    keepAhead: (ms) => keep('ahead', ms),
    // Kept by `keepWorld` and by nothing else.
    world: async () => (await read('world')) as World | null,
    keepWorld: (world) => keep('world', world),
  };
}
