import { deepEqual, equal } from 'node:assert/strict';
import type { SandboxUser } from '../../../deploy/sandbox/src/control/bodies.ts';
import { type Answer, type Call, send } from '../../conformance/support/client.ts';
import { aMeeting, JOIN } from '../../conformance/support/meetings.ts';
import { comeBack, exchange, refresh, register, statusOf } from '../../conformance/support/oauth-scene.ts';
import { signupAgent } from '../../conformance/support/signup.ts';
import { freshAddress } from '../../conformance/support/world.ts';
import { createFormBrowser } from '../../support/form-browser.ts';
import type { Outside } from '../../support/outside.ts';
import { untilSo } from './within.ts';

export interface JourneyScene {
  readonly outside: Outside;
  readonly teamId: string;
  /** The codes that were mailed to an address, newest first. */
  readonly codes: (address: string) => Promise<readonly string[]>;
  /** Takes deliveries below it. */
  readonly receiverUrl: string;
  readonly keepSecret: (path: string, secret: string) => void;
  /** A join that was answered. */
  readonly keepJoin: (id: string) => void;
  /** Somebody else of the team each time, so that nobody comes to a limit. */
  readonly somebody: () => SandboxUser;
  /** One gateway after the other. */
  readonly gateway: () => string;
}

/** What a person or an app does in two parts: the second one goes on with what the first one was given. */
export type Journey = (scene: JourneyScene) => Promise<() => Promise<void>>;

const LOOK_MS = 200;
const calls =
  ({ gateway }: JourneyScene, as: string) =>
  (method: string, path: string, call: Call = {}): Promise<Answer> =>
    send(gateway(), path, { method, as, ...call });
const said = (answer: Answer, status: number): Answer => {
  if (answer.status !== status) throw new Error(`${answer.status} in the place of ${status}: ${answer.text.slice(0, 500)}`);
  return answer;
};
const until = (what: string, isSo: () => Promise<boolean>): Promise<void> =>
  untilSo({ what }, async () => {
    const found = await isSo();
    if (!found) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    return found;
  });

const signsUp: Journey = async (scene) => {
  const address = freshAddress('founder');
  const agent = () => signupAgent({ baseUrl: scene.gateway(), mails: () => Promise.resolve([]) });
  const { json } = said(await agent().step('start', { email: address }), 200);
  return async () => {
    await until(`a code for ${address}`, async () => (await scene.codes(address)).length > 0);
    const [code] = await scene.codes(address);
    const step = async (name: string, session: string, fields: object = {}): Promise<string> =>
      said(await agent().step(name, { signup_session: session, ...fields }), 200).json.signup_session;
    const verified = await step('verify', json.signup_session, { code });
    const listed = await step('workspaces', verified);
    await step('workspace', listed, { action: 'create', workspace_name: 'Acme' });
  };
};

const signsIn: Journey = async (scene) => {
  const { email } = scene.somebody();
  const address = email ?? '';
  const before = (await scene.codes(address)).length;
  const browser = createFormBrowser();
  const page = await browser.submit(await browser.open(`${scene.gateway()}/app/sign-in`), { fields: { address } });
  equal(page.status, 200);
  return async () => {
    await until(`a code for ${address}`, async () => (await scene.codes(address)).length > before);
    const [code = ''] = await scene.codes(address);
    const elsewhere = { ...page, url: new URL(page.url.pathname, scene.gateway()) };
    await browser.submit(elsewhere, { fields: { code } });
    const home = await browser.open(`${scene.gateway()}/app/api-keys`);
    deepEqual([home.url.pathname, home.status], ['/app/api-keys', 200]);
  };
};

const allowsAnApp: Journey = async (scene) => {
  const site = () => ({ baseUrl: scene.gateway() });
  const app = await register(site());
  const back = await comeBack(site(), scene.somebody(), app);
  return async () => {
    const { json: first } = said(await exchange(site(), back), 200);
    equal(await statusOf(site(), first.access_token), 200);
    const { json: second } = said(await refresh(site(), app, first.refresh_token), 200);
    equal(await statusOf(site(), second.access_token, '/v1/bubbles?limit=1'), 200);
  };
};

const NOBODY_ELSE = { participant_ids: [], external_participants: [] };
const recordsAMeeting: Journey = async (scene) => {
  const { actions } = scene.outside;
  const call = calls(scene, scene.somebody().pat);
  const meeting_url = aMeeting();
  const request = { body: { meeting_url, team_id: scene.teamId }, headers: { 'idempotency-key': new URL(meeting_url).pathname.slice(1) } };
  const { id } = said(await call('POST', JOIN, request), 201).json;
  scene.keepJoin(id);
  return async () => {
    equal(said(await call('POST', JOIN, request), 201).json.id, id);
    await until(`the notetaker of ${id}`, async () => (await actions.listNotetakers()).some(({ join_id }) => join_id === id));
    // A join hears of nothing before it knows which notetaker was sent for it.
    const records = { ...NOBODY_ELSE, status: 'recording' } as const;
    await until(`the join of ${id}`, async () => (await actions.moveNotetaker(id, records)).status === 'recording');
    equal(said(await call('GET', `${JOIN}/${id}`), 200).json.status, 'recording');
    const { bubble_id: bubbleId } = await actions.moveNotetaker(id, { ...NOBODY_ELSE, status: 'done' });
    await until(`the recording of ${id}`, async () => (await call('GET', `/v1/bubbles/${bubbleId}`)).status === 200);
  };
};

const turnsPages =
  (path: string): Journey =>
  async (scene) => {
    const call = calls(scene, scene.somebody().pat);
    const { json: first } = said(await call('GET', path), 200);
    return async () => {
      if (first.next_cursor === null) return;
      const { json: second } = said(await call('GET', `${path}&cursor=${first.next_cursor}`), 200);
      const idsIn = (page: { readonly data: readonly { readonly id: string }[] }) => page.data.map(({ id }) => id);
      deepEqual(
        idsIn(second).filter((id) => idsIn(first).includes(id)),
        [],
      );
    };
  };

/** Looks at paths that are there, twice. */
export const reads = (...paths: readonly string[]): Journey => {
  const look = async (scene: JourneyScene) => {
    const call = calls(scene, scene.somebody().pat);
    for (const path of paths) said(await call('GET', path), 200);
  };
  return async (scene) => {
    await look(scene);
    return () => look(scene);
  };
};

const managesKeys: Journey = async (scene) => {
  const { session_token: session } = scene.somebody();
  const { json: key } = said(await calls(scene, session)('POST', '/v1/api-keys', { body: { name: 'journey' } }), 201);
  return async () => {
    said(await calls(scene, key.token)('GET', '/v1/me'), 200);
    said(await calls(scene, session)('DELETE', `/v1/api-keys/${key.id}`), 204);
    await until('the key is over', async () => (await calls(scene, key.token)('GET', '/v1/me')).status === 401);
  };
};

const subscribes: Journey = async (scene) => {
  const { pat, id: userId } = scene.somebody();
  const call = calls(scene, pat);
  const body = { url: `${scene.receiverUrl}/${userId}`, events: ['bubble.ready'], team_id: scene.teamId };
  const { json: subscription } = said(await call('POST', '/v1/webhooks', { body }), 201);
  scene.keepSecret(userId, subscription.secret);
  const own = `/v1/webhooks/${subscription.id}`;
  return async () => {
    said(await call('POST', `${own}/test`), 202);
    const arrived = async () => {
      const { json } = said(await call('GET', `${own}/deliveries?limit=50`), 200);
      return json.data.some(({ status }: { readonly status: string }) => status === 'succeeded');
    };
    await until(`a delivery of ${subscription.id}`, arrived);
    said(await call('PATCH', own, { body: { events: ['meeting_recording.ready'] } }), 200);
    said(await call('DELETE', own), 204);
  };
};

export const JOURNEYS = {
  'signs up': signsUp,
  'signs in': signsIn,
  'allows an app': allowsAnApp,
  'records a meeting': recordsAMeeting,
  'turns pages of the list': turnsPages('/v1/bubbles?limit=2'),
  'turns pages of a search': turnsPages('/v1/bubbles/search?q=recording&limit=2'),
  'manages keys': managesKeys,
  subscribes,
} satisfies Readonly<Record<string, Journey>>;
