import { type Answer, send } from './client.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { control, deliveringWorld, type Sandbox, startSandbox, worldAt } from './sandbox-world.ts';
import type { Person, TeamScene, World } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Somebody who pays, and what they subscribed. */
export interface Subscriber {
  readonly person: Person;
  readonly team: TeamScene;
  readonly receiver: Receiver;
  readonly id: string;
  readonly secret: string;
  call(method: string, path?: string, body?: unknown): Promise<Answer>;
  /** The delivery log, newest first. */
  // biome-ignore lint/suspicious/noExplicitAny: its rows are what is under test
  log(): Promise<any[]>;
  /** A bubble of theirs in their team. */
  bubble(fields?: Fields): Promise<string>;
}

/** A sandbox of its own, whose clock a test may move. */
export interface HookScene {
  readonly world: World;
  readonly sandbox: Sandbox;
  subscriber(fields?: Fields): Promise<Subscriber>;
  /** Moves the clock on; answers the time reached. */
  advance(seconds: number): Promise<Date>;
  service(name: string, state: Fields): Promise<void>;
  close(): Promise<void>;
}

export async function openHookScene(env: Readonly<Record<string, string>> = {}): Promise<HookScene> {
  const sandbox = await startSandbox(['--data', ':memory:'], env);
  const world = deliveringWorld(worldAt(sandbox.url, () => sandbox.stop()));
  const receivers: Receiver[] = [];

  const subscriber = async (fields: Fields = {}): Promise<Subscriber> => {
    const person = await world.user();
    const members = [{ user_id: person.id, role: 'admin' }];
    const team = await world.team({ name: 'Pro', plan: 'pro', members, channels: [{ name: 'general' }, { name: 'other' }] });
    const receiver = await startReceiver();
    receivers.push(receiver);
    const call = (method: string, path = '', body?: unknown) => send(sandbox.url, `/v1/webhooks${path}`, { method, as: person.pat, body });
    const made = await call('POST', '', { url: receiver.url, events: ['bubble.ready'], ...fields });
    if (made.status !== 201) throw new Error(made.text);
    const { id, secret } = made.json;
    return {
      person,
      team,
      receiver,
      id,
      secret,
      call,
      log: async () => (await call('GET', `/${id}/deliveries?limit=100`)).json.data,
      bubble: async (more = {}) =>
        (await world.bubble({ type: 'screen_recording', team_id: team.id, participant_ids: [person.id], ...more })).id,
    };
  };

  return {
    world,
    sandbox,
    subscriber,
    advance: async (seconds) => new Date((await control(sandbox.url, 'POST /clock', { advance_seconds: seconds })).now),
    service: async (name, state) => {
      await control(sandbox.url, `POST /services/${name}`, state);
      await control(sandbox.url, 'POST /settle');
    },
    async close() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await sandbox.stop();
    },
  };
}
