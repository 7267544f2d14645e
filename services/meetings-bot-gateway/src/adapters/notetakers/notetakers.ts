import type { MeetingPlatform } from '../../domain/meeting-link.ts';
import type { Notetaker, Notetakers } from '../../ports.ts';

/** `routes`: the name of the provider that serves each platform. */
export const routedNotetakers = (providers: readonly Notetaker[], routes: ReadonlyMap<MeetingPlatform, string>): Notetakers => {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  const named = (name: string) => byName.get(name) ?? null;
  return {
    named,
    forPlatform(platform) {
      const name = routes.get(platform);
      return name === undefined ? null : named(name);
    },
  };
};
