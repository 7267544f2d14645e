import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { keyedMutex } from '@bubbles/kernel/concurrency.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { z } from 'zod';
import type { Actions } from '../../../deploy/sandbox/src/control/actions.ts';
import { controlApp } from '../../../deploy/sandbox/src/control/control-app.ts';
import type { SandboxControl } from '../../../deploy/sandbox/src/control/routes.ts';
import { type Outside, type OutsideOptions, openOutside } from '../../support/outside.ts';
import { type ReadModel, readModel } from '../../support/read-model.ts';
import { worldAt } from './sandbox-world.ts';
import type { World } from './world.ts';

export interface StackWorldOptions extends OutsideOptions {
  /** A gateway of the stack. */
  readonly baseUrl: string;
  readonly mongoUrl: string;
  /** Where bubbles-query keeps its data. */
  readonly database: string;
  /** Where the stack writes its mails. */
  readonly mailFiles: string;
}

/** Longer than a process of an outbox that lost its turn waits for the next one. */
const ARRIVAL_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 10;

/** The scene on a product of many processes: the sandbox's control plane, with the recording pipeline and an operator behind it that meet the product on the wire alone. */
export const stackWorld = async (options: StackWorldOptions): Promise<World> => {
  const [clock, log, ids] = [systemClock(), SILENT_LOG, systemIds()];
  const outside = await openOutside(options);
  const database = openMongo({ url: options.mongoUrl, name: options.database, log, clock });
  const serve = controlApp(controlOf(arriving(outside, readModel(database)), options.mailFiles), {
    callers: { hosts: [], remote: false },
    clock,
    log,
    ids,
  });
  const server = createServer(serve((_req, res) => void res.writeHead(404).end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the control plane does not listen');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await outside.close();
    await database.close();
  };
  return { ...worldAt(`http://127.0.0.1:${address.port}`, close), baseUrl: options.baseUrl };
};

const onlySandbox = () => {
  throw new DomainError('not_found', 'Only the sandbox can do that.');
};

const CaughtMail = z.object({
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  sent_at: z.iso.datetime().transform((text) => new Date(text)),
});

/** Newest first. A file that has its name is whole. */
export const caughtMails = (folder: string): SandboxControl['mails'] => {
  return async (to) => {
    // Made with the first mail.
    if (!existsSync(folder)) return [];
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    const mails = await Promise.all(names.map(async (name) => CaughtMail.parse(JSON.parse(await readFile(join(folder, name), 'utf8')))));
    return mails
      .filter((mail) => to === null || mail.to.toLowerCase() === to.toLowerCase())
      .map(({ sent_at: sentAt, ...mail }) => ({ ...mail, sentAt }))
      .toSorted((a, b) => b.sentAt.getTime() - a.sentAt.getTime());
  };
};

const controlOf = (actions: Actions, mailFiles: string): SandboxControl => ({
  lock: keyedMutex(),
  actions: () => actions,
  // An action has arrived when it resolves.
  settle: () => Promise.resolve(),
  now: () => new Date(),
  mails: caughtMails(mailFiles),
  world: onlySandbox,
  baseUrl: onlySandbox,
  advance: onlySandbox,
  reset: onlySandbox,
  setService: onlySandbox,
});

/** Each action, done when the services have what it said. */
const arriving = ({ actions, identity, stated }: Outside, model: ReadModel): Actions => {
  const bubble = (id: string) => arrival(() => model.missing([id], stated));
  const person = (id: string) =>
    arrival(async () => {
      const account = await identity.account(id);
      return account === null ? [] : model.missingPeople([account]);
    });
  const sent = async (joinId: string) => (await actions.listNotetakers()).some(({ join_id }) => join_id === joinId);
  /** A join hears of nothing before it knows which notetaker was sent for it. */
  const moved: Actions['moveNotetaker'] = async (joinId, move) => {
    const late = [`notetaker of ${joinId}`];
    await arrival(async () => ((await sent(joinId)) ? [] : late));
    return arrived(
      () => actions.moveNotetaker(joinId, move),
      ({ status }) => (status === 'dispatched' ? late : []),
    );
  };
  return {
    ...actions,
    moveNotetaker: (joinId, move) =>
      afterwards(moved(joinId, move), async ({ bubble_id }) => {
        if (bubble_id !== null) await bubble(bubble_id);
      }),
    createUser: (given) => afterwards(actions.createUser(given), ({ id }) => person(id)),
    changeUser: (id, profile) => afterwards(actions.changeUser(id, profile), () => person(id)),
    setState: (id, state) => afterwards(actions.setState(id, state), () => person(id)),
    createBubble: (body) => afterwards(actions.createBubble(body), ({ id }) => bubble(id)),
    moveBubble: (id, body) => afterwards(actions.moveBubble(id, body), () => bubble(id)),
    changeBubble: (id, body) => afterwards(actions.changeBubble(id, body), () => bubble(id)),
    removeBubble: (id) => afterwards(actions.removeBubble(id), () => bubble(id)),
    comment: (bubbleId, body) =>
      afterwards(actions.comment(bubbleId, body), ({ id }) => arrival(() => model.missingComments([id], stated))),
  };
};

const afterwards = async <T>(action: Promise<T>, wait: (done: T) => Promise<unknown>): Promise<T> => {
  const done = await action;
  await wait(done);
  return done;
};

/** What is found when nothing is missing any more; rejects with what still is after two minutes. */
const arrived = async <T>(look: () => Promise<T>, missing: (found: T) => readonly string[]): Promise<T> => {
  const deadline = performance.now() + ARRIVAL_LIMIT_MS;
  for (;;) {
    const found = await look();
    const late = missing(found);
    if (late.length === 0) return found;
    if (performance.now() > deadline) throw new DomainError('internal', `Not there after two minutes: ${late.join(', ')}.`);
    await pause(LOOK_EVERY_MS);
  }
};

const arrival = (missing: () => Promise<readonly string[]>): Promise<readonly string[]> => arrived(missing, (late) => late);
