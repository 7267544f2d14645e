import type { SettleScope } from '@bubbles/host/service.ts';
import { route } from '@bubbles/http/routes/define-route.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { World } from '../world.ts';
import type { Actions } from './actions.ts';
import { controlDocument } from './control-document.ts';
import type { Gate } from './gate.ts';
import type { NewProfile } from './identity.ts';
import { SPECS } from './specs.ts';

/** What is reckoned from it, such as the end of a session, must still be written in four digits. */
const LAST_INSTANT = Date.UTC(9000, 0);

export type ServiceState = { readonly state: 'down' | 'up' } | { readonly state: 'slow'; readonly ms: number };

/** The running sandbox as the control plane moves it. */
export interface Stage {
  readonly gate: Gate;
  readonly actions: () => Actions;
  readonly world: () => World;
  readonly baseUrl: () => string;
  readonly now: () => Date;
  /** Resolves when nothing is in flight, of facts alone or of everything; rejects after half a minute. */
  settle(scope: SettleScope): Promise<void>;
  advance(ms: number): Promise<Date>;
  reset(): Promise<void>;
  /** Rejects with `not_found` for a name that no service has. */
  setService(name: string, state: ServiceState): Promise<void>;
}

interface WireProfile {
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly picture_url?: string | null | undefined;
}

/** Only what was given: absent is not null. */
const profileOf = ({ email, name, picture_url }: WireProfile): Partial<NewProfile> => ({
  ...(email === undefined ? {} : { email }),
  ...(name === undefined ? {} : { name }),
  ...(picture_url === undefined ? {} : { pictureUrl: picture_url }),
});

/** Drops keys that are present with the value undefined, which a schema's optional fields are when the caller left them out. */
const given = <T extends object>(fields: T) =>
  // The result has T's keys less those without a value.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

export function controlRoutes(stage: Stage): Route[] {
  const { gate } = stage;
  /** Does it, and answers when every projection has it; receivers are not waited for. */
  const act = <T>(work: (actions: Actions) => Promise<T>): Promise<T> =>
    gate.shared(async () => {
      const done = await work(stage.actions());
      await stage.settle('facts').catch(tellDone);
      return done;
    });
  const shownWorld = () => ({ base_url: stage.baseUrl(), now: stage.now().toISOString(), ...stage.world() });
  const routes = [...peopleRoutes(act), ...bubbleRoutes(act), ...stageRoutes(stage, shownWorld)];
  const described = lazily(() => controlDocument([document, ...routes]));
  const document: Route = route(SPECS.document, () => Promise.resolve(described()));
  return [document, ...routes];
}

/** Who is told of a fault must not take it that nothing happened. */
const tellDone = (error: unknown): never => {
  if (!isDomainError(error)) throw error;
  throw new DomainError(error.kind, `The change was made, but it has not arrived everywhere. ${error.message}`, { cause: error });
};

/** Most runs never ask for it. */
const lazily = <T extends object>(make: () => T): (() => T) => {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
};

type Act = <T>(work: (actions: Actions) => Promise<T>) => Promise<T>;

const peopleRoutes = (act: Act): Route[] => [
  route(SPECS.createUser, ({ body }) => act((actions) => actions.createUser(profileOf(body)))),
  route(SPECS.changeUser, ({ params, body }) =>
    act(async (actions) => {
      const { id, email, name, pictureUrl } = await actions.changeUser(params.id, profileOf(body));
      return { id, email, name, picture_url: pictureUrl };
    }),
  ),
  route(SPECS.setState, ({ params, body }) =>
    act(async (actions) => {
      await actions.setState(params.id, body.state);
      return { id: params.id, state: body.state };
    }),
  ),
  route(SPECS.createTeam, ({ body }) => act((actions) => actions.createTeam(body))),
  route(SPECS.changeTeam, ({ params, body }) => act((actions) => actions.changeTeam(params.id, given(body)))),
  route(SPECS.setMember, ({ params, body }) =>
    act(async (actions) => {
      await actions.setMember(params.id, params.user_id, body);
      return { team_id: params.id, user_id: params.user_id, role: body.role };
    }),
  ),
  route(SPECS.endMember, ({ params }) =>
    act(async (actions) => {
      await actions.endMembership(params.id, params.user_id);
      return { team_id: params.id, user_id: params.user_id, role: null };
    }),
  ),
];

const bubbleRoutes = (act: Act): Route[] => [
  route(SPECS.createBubble, ({ body }) => act((actions) => actions.createBubble(body))),
  route(SPECS.moveBubble, ({ params, body }) => act((actions) => actions.moveBubble(params.id, body))),
  route(SPECS.changeBubble, ({ params, body }) => act((actions) => actions.changeBubble(params.id, body))),
  route(SPECS.removeBubble, ({ params }) =>
    act(async (actions) => {
      await actions.removeBubble(params.id);
      return { id: params.id };
    }),
  ),
  route(SPECS.comment, ({ params, body }) =>
    act(async (actions) => {
      const { id, threadId } = await actions.comment(params.id, body);
      return { id, thread_id: threadId };
    }),
  ),
];

const stageRoutes = (stage: Stage, shownWorld: () => World & { readonly base_url: string; readonly now: string }): Route[] => [
  route(SPECS.world, () => Promise.resolve(shownWorld())),
  route(SPECS.reset, () =>
    stage.gate.alone(async () => {
      await stage.reset();
      return shownWorld();
    }),
  ),
  route(SPECS.clock, () => Promise.resolve({ now: stage.now().toISOString() })),
  route(SPECS.advance, ({ body }) =>
    stage.gate.alone(async () => {
      const ms = Math.round(body.advance_seconds * 1000);
      if (stage.now().getTime() + ms > LAST_INSTANT)
        throw new DomainError('invalid', 'advance_seconds: the clock goes no further than the year 9000.');
      return { now: (await stage.advance(ms)).toISOString() };
    }),
  ),
  route(SPECS.settle, () =>
    stage.gate.shared(async () => {
      await stage.settle('all');
      return { settled: true as const };
    }),
  ),
  route(SPECS.setService, ({ params, body }) =>
    stage.gate.alone(async () => {
      await stage.setService(params.name, body.state === 'slow' ? { state: 'slow', ms: body.ms } : { state: body.state });
      return { name: params.name, state: body.state };
    }),
  ),
];
