import { sandboxWorld } from './sandbox-world.ts';
import type { World } from './world.ts';

/** The world that the run is against. */
export const openWorld = (): Promise<World> => sandboxWorld();
