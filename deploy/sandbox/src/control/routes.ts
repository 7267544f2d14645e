import { BubbleType } from '@bubbles/contracts/api/bubble.ts';
import type { SettleScope } from '@bubbles/host/service.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { type Route, route } from '@bubbles/http/routes/route.ts';
import type { KeyedMutex } from '@bubbles/kernel/concurrency.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { Mailbox } from '../mailbox.ts';
import type { World as SeededWorld } from '../world.ts';
import type { Act, Actions } from './actions.ts';
import { Bubble, CALL, Team, User } from './bodies.ts';
import { controlDocument } from './control-document.ts';
import { notetakerRoutes } from './notetakers.ts';
import { peopleRoutes } from './people.ts';
import { recordingRoutes } from './recordings.ts';

const ServicePath = z.object({
  name: z.string().meta({ description: "The service's folder, e.g. `bubbles-query`; not the gateway" }),
});
const Nothing = z.strictObject({});
const Step = z.strictObject({ advance_seconds: z.number().min(0).max(3_153_600_000) }).meta({ examples: [{ advance_seconds: 3600 }] });
const StateChange = z
  .strictObject({
    state: z.enum(['down', 'up', 'slow']),
    ms: z.int().min(0).max(60_000).default(1000).meta({ description: 'How long each answer waits when slow' }),
  })
  .meta({ examples: [{ state: 'down' }] });
const World = z.object({
  base_url: z.string(),
  now: z.string(),
  users: z.record(z.string(), User),
  teams: z.record(z.string(), Team),
  bubbles: z.record(z.string(), Bubble.extend({ type: BubbleType })),
});
const MailQuery = z.object({ to: z.string().optional().meta({ description: 'The address that it went to; absent: all' }) });
const SentMail = z.object({ to: z.string(), subject: z.string(), text: z.string(), html: z.string(), sent_at: z.string() });
const Now = z.object({ now: z.string() });

/** What is reckoned from it, such as the end of a session, must still be written in four digits. */
const LAST_INSTANT = Date.UTC(9000, 0);

/** The key of the one lock that there is. */
const SANDBOX = 'sandbox';

export type ServiceState = { readonly state: 'down' | 'up' } | { readonly state: 'slow'; readonly ms: number };

/** The running sandbox as the control plane moves it. */
export interface SandboxControl {
  /** Control calls run side by side; a clock step or a reset runs alone. */
  readonly lock: KeyedMutex;
  readonly actions: () => Actions;
  readonly world: () => SeededWorld;
  readonly baseUrl: () => string;
  readonly now: () => Date;
  /** Newest first, to everybody when `to` is null. */
  readonly mails: Mailbox['read'];
  /** Resolves when nothing is in flight, of facts alone or of everything; rejects after half a minute. */
  settle(scope: SettleScope): Promise<void>;
  advance(ms: number): Promise<Date>;
  reset(): Promise<void>;
  /** Rejects with `not_found` for a name that no service has. */
  setService(name: string, state: ServiceState): Promise<void>;
}

const shownWorld = (control: SandboxControl) => ({ base_url: control.baseUrl(), now: control.now().toISOString(), ...control.world() });

const world = (control: SandboxControl) =>
  route(
    {
      ...CALL,
      tag: 'World',
      method: 'GET',
      path: '/_sandbox/world',
      operationId: 'getWorld',
      summary: 'Read the seeded world',
      description: 'People with their tokens, teams and bubbles, each by the handle that the README names it by.',
      answers: { 200: json(World) },
    },
    () => Promise.resolve(shownWorld(control)),
  );

const reset = (control: SandboxControl) =>
  route(
    {
      ...CALL,
      tag: 'World',
      method: 'POST',
      path: '/_sandbox/reset',
      operationId: 'reset',
      summary: 'Start fresh with the seeded world',
      description: 'All stores are emptied, the clock goes back to real time, all services are up.',
      body: Nothing,
      answers: { 200: json(World) },
    },
    () =>
      control.lock.exclusive(SANDBOX, async () => {
        await control.reset();
        return shownWorld(control);
      }),
  );

const clock = (control: SandboxControl) =>
  route(
    {
      ...CALL,
      tag: 'Time and faults',
      method: 'GET',
      path: '/_sandbox/clock',
      operationId: 'getClock',
      summary: 'Read the clock',
      answers: { 200: json(Now) },
    },
    () => Promise.resolve({ now: control.now().toISOString() }),
  );

const advance = (control: SandboxControl) =>
  route(
    {
      ...CALL,
      tag: 'Time and faults',
      method: 'POST',
      path: '/_sandbox/clock',
      operationId: 'advanceClock',
      summary: 'Move the clock on',
      description:
        'Steps from due time to due time (retries, expiries, rate windows, jobs) and answers when all that fell due is done. A receiver that hangs takes its 15 seconds for each attempt.',
      body: Step,
      answers: { 200: json(Now) },
    },
    ({ body }) =>
      control.lock.exclusive(SANDBOX, async () => {
        const ms = Math.round(body.advance_seconds * 1000);
        if (control.now().getTime() + ms > LAST_INSTANT)
          throw new DomainError('invalid', 'advance_seconds: the clock goes no further than the year 9000.');
        return { now: (await control.advance(ms)).toISOString() };
      }),
  );

const settle = (control: SandboxControl) =>
  route(
    {
      ...CALL,
      tag: 'Time and faults',
      method: 'POST',
      path: '/_sandbox/settle',
      operationId: 'settle',
      summary: 'Wait until nothing is in flight',
      description: 'Outboxes empty, events consumed, due deliveries attempted. 500 after 30 seconds, or when an event can never leave.',
      body: Nothing,
      answers: { 200: json(z.object({ settled: z.literal(true) })) },
    },
    () =>
      control.lock.shared(SANDBOX, async () => {
        await control.settle('all');
        return { settled: true as const };
      }),
  );

const mailbox = (control: SandboxControl) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'GET',
      path: '/_sandbox/mailbox',
      operationId: 'getMailbox',
      summary: 'Read what was mailed, newest first',
      description: 'Codes of sign-in among it. The latest thousand; what was asked for before this call is there.',
      query: MailQuery,
      answers: { 200: json(z.array(SentMail)) },
    },
    ({ query }) =>
      control.lock.shared(SANDBOX, async () => {
        await control.settle('facts');
        const mails = await control.mails(query.to ?? null);
        return mails.map(({ to, subject, text, html, sentAt }) => ({ to, subject, text, html, sent_at: sentAt.toISOString() }));
      }),
  );

const setService = (control: SandboxControl) =>
  route(
    {
      ...CALL,
      tag: 'Time and faults',
      method: 'POST',
      path: '/_sandbox/services/{name}',
      operationId: 'setService',
      summary: 'Stop, start or slow down a service',
      params: ServicePath,
      body: StateChange,
      answers: { 200: json(z.object({ name: z.string(), state: z.string() })) },
    },
    ({ params, body }) =>
      control.lock.exclusive(SANDBOX, async () => {
        await control.setService(params.name, body.state === 'slow' ? { state: 'slow', ms: body.ms } : { state: body.state });
        return { name: params.name, state: body.state };
      }),
  );

/** Does it, and answers when every projection has it; receivers are not waited for. */
const actOn =
  (control: SandboxControl, { settlesFirst } = { settlesFirst: false }): Act =>
  (work) =>
    control.lock.shared(SANDBOX, async () => {
      if (settlesFirst) await control.settle('facts');
      const done = await work(control.actions());
      await control.settle('facts').catch(tellDone);
      return done;
    });

/** The error must say that the change was made before the failure. */
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

export const controlRoutes = (control: SandboxControl): readonly Route[] => {
  const act = actOn(control);
  const routes = [
    ...peopleRoutes(act),
    ...recordingRoutes(act),
    ...notetakerRoutes(actOn(control, { settlesFirst: true })),
    ...[world, reset, mailbox, clock, advance, settle, setService].map((make) => make(control)),
  ];
  const described = lazily(() => controlDocument([document, ...routes]));
  const document: Route = route(
    {
      ...CALL,
      method: 'GET',
      path: '/_sandbox/openapi.json',
      operationId: 'getControlDocument',
      summary: 'Read this document',
      tag: 'World',
      answers: { 200: json(z.looseObject({ openapi: z.string() })) },
    },
    () => Promise.resolve(described()),
  );
  return [document, ...routes];
};
