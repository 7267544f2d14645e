import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Call, send } from './client.ts';
import type { Person, TeamScene, World } from './world.ts';

export const JOIN = '/v1/meetings/join';

interface Meetings {
  readonly ada: Person;
  readonly ben: Person;
  readonly team: TeamScene;
}

const letters = (count: number): string => Array.from({ length: count }, () => String.fromCharCode(97 + randomInt(26))).join('');
/** What happens after an answer may take a little longer where there are many processes. */
const SOON_MS = 120_000;
/** Within what a credential may ask in a minute. */
const LOOK_EVERY_MS = 200;
/** What is found as soon as it is so, or at last. */
export const soon = async <T>(look: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> => {
  const deadline = performance.now() + SOON_MS;
  for (;;) {
    const found = await look();
    if (isSo(found) || performance.now() > deadline) return found;
    await pause(LOOK_EVERY_MS);
  }
};

/** One that nobody was in. */
export const aMeeting = (): string => `https://meet.google.com/${letters(3)}-${letters(4)}-${letters(3)}`;

export const meetingsOf = ({ world }: { readonly world: World }) => {
  const call = ({ pat }: Pick<Person, 'pat'>, path: string, options: Call = {}): Promise<Answer> =>
    send(world.baseUrl, `${JOIN}${path}`, { ...options, as: pat });
  return {
    call,
    /** Two members of a team. */
    async scene(plan: 'free' | 'pro' = 'pro'): Promise<Meetings> {
      const [ada, ben] = await Promise.all([world.user(), world.user()]);
      const members = [ada, ben].map(({ id }) => ({ user_id: id, role: 'member' }));
      return { ada, ben, team: await world.team({ name: 'Team', plan, members }) };
    },
    join: (person: Pick<Person, 'pat'>, team: Pick<TeamScene, 'id'>, meeting_url = aMeeting(), headers = {}): Promise<Answer> =>
      call(person, '', { method: 'POST', body: { meeting_url, team_id: team.id }, headers }),
    status: async (person: Person, id: string) => (await call(person, `/${id}`)).json,
    move: (id: string, fields: object) => world.notetaker(id, { ...fields }),
    /** How many notetakers were sent to a meeting, as soon as there are as many as that. */
    sentTo: (url: string, least: number): Promise<number> =>
      soon(
        async () => (await world.notetakers()).filter(({ meeting_url }) => meeting_url === url).length,
        (count) => count >= least,
      ),
  };
};
export type MeetingCalls = ReturnType<typeof meetingsOf>;
