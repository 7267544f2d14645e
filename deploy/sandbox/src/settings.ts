import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import type { World } from './world.ts';

/** What the sandbox itself keeps beside the services' data. */
export interface SettingDoc {
  readonly _id: string;
  readonly value: unknown;
}

export interface Settings {
  /** A secret of this data folder; it outlives a restart, or what is sealed with it would be lost. */
  secret(name: string, bytes: number): Promise<Buffer>;
  /** How far the clock is ahead of real time, milliseconds. */
  ahead(): Promise<number>;
  keepAhead(ms: number): Promise<void>;
  /** Null before the world has been seeded. */
  world(): Promise<World | null>;
  keepWorld(world: World): Promise<void>;
}

export function settings(collection: Collection<SettingDoc>, ids: Ids): Settings {
  const read = async (name: string) => (await collection.findOne({ _id: name }))?.value ?? null;
  const keep = async (name: string, value: unknown) => {
    await collection.replaceOne({ _id: name }, { _id: name, value }, { upsert: true });
  };
  return {
    async secret(name, bytes) {
      const key = `${name}Key`;
      const known = await read(key);
      if (typeof known === 'string') return Buffer.from(known, 'base64');
      const made = ids.bytes(bytes);
      await keep(key, made.toString('base64'));
      return made;
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
