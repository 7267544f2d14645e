import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type Call, send } from '../conformance/support/client.ts';
import { type Sandbox, startSandbox, worldAt } from '../conformance/support/sandbox-world.ts';
import type { World } from '../conformance/support/world.ts';
import { createFormBrowser } from '../support/form-browser.ts';

let sandbox: Sandbox;
let world: World;
beforeAll(async () => {
  sandbox = await startSandbox();
  world = worldAt(sandbox.url, () => sandbox.stop());
});
afterAll(() => world.close());

type Send = (path: string, call?: Call) => Promise<Answer>;
const once: Send = (path, call) => send(sandbox.url, path, call);
/** Every request goes out twice, as over a bad line; whoever sent it holds on to the last answer that is a success. */
const twice: Send = async (path, call) => {
  const [first, second] = [await once(path, call), await once(path, call)];
  return second.status < 400 ? second : first;
};

/** What the agent knows of the API beside the answers: where a signup starts, and how the fields of a step are called. */
const FIELDS: Readonly<Record<string, object>> = {
  workspaces: {},
  workspace: { action: 'create', workspace_name: 'Ada and friends' },
  calendar: {},
};

/** Newest first. */
const codesTo = async (purpose: 'sign up' | 'sign in', address: string): Promise<readonly string[]> =>
  (await world.mails(address)).flatMap(({ subject, text }) => (subject.includes(purpose) ? (/\b\d{6}\b/.exec(text) ?? []) : []));

/** Follows `next_step` from answer to answer until it is `done`; answers the steps and the last answer. */
const signUp = async (ask: Send, address: string) => {
  const steps: string[] = [];
  const post = async (step: string, body: object): Promise<Answer['json']> => {
    const answer = await ask(`/v1/signup/${step}`, { method: 'POST', body });
    if (answer.status === 401) return null;
    expect([step, answer.status, typeof answer.json.agent_context, typeof answer.json.relay_to_user]).toEqual([
      step,
      200,
      'string',
      'string',
    ]);
    steps.push(step);
    return answer.json;
  };
  let answer = await post('start', { email: address });
  while (answer.next_step !== 'done') {
    const { next_step: step, signup_session } = answer;
    if (step !== 'verify') answer = await post(step, { signup_session, ...FIELDS[step] });
    else {
      // A start that was sent twice has mailed two codes, of which the user reads out the newest first.
      let verified: Answer['json'] = null;
      for (const code of await codesTo('sign up', address)) verified ??= await post('verify', { signup_session, code });
      answer = verified;
    }
  }
  return { steps, done: answer };
};

/** The session of a browser in which the person signs in with the mailed code. */
const signIn = async (address: string): Promise<string> => {
  const browser = createFormBrowser();
  const asked = await browser.submit(await browser.open(`${sandbox.url}/app/sign-in`), { fields: { address } });
  const [code = ''] = await codesTo('sign in', address);
  const home = await browser.submit(asked, { fields: { code } });
  expect([home.status, home.url.pathname]).toEqual([200, '/app/']);
  return /(?:^|; )session=([^;]+)/.exec(browser.cookies(home.url))?.[1] ?? '';
};

const SENDERS: readonly (readonly [string, Send])[] = [
  ['once', once],
  ['twice', twice],
];

describe('an assistant that follows the answers', () => {
  it.each(SENDERS)(
    '[SIGN-01] [SIGN-10] [SIGN-11] signs its user up, who signs in and uses the API, with every request sent %s',
    async (_, ask) => {
      const address = `ada@${randomUUID()}.example`;
      const { steps, done } = await signUp(ask, address);
      expect(steps).toEqual(['start', 'verify', 'workspaces', 'workspace', 'calendar']);
      expect([done.skip, done.google_connect_url, done.microsoft_connect_url]).toEqual([
        true,
        expect.stringContaining('/connect/calendar/google'),
        expect.stringContaining('/connect/calendar/microsoft'),
      ]);

      const as = await signIn(address);
      const key = await ask('/v1/api-keys', { method: 'POST', as, body: { name: 'agent' }, headers: { 'idempotency-key': randomUUID() } });
      expect(key.status).toBe(201);
      const { token } = key.json;
      const [me, teams, bubbles] = [
        await ask('/v1/me', { as: token }),
        await ask('/v1/teams', { as: token }),
        await ask('/v1/bubbles', { as: token }),
      ];
      expect(me.json.email).toBe(address);
      expect(teams.json.data).toEqual([expect.objectContaining({ name: 'Ada and friends', plan: 'pro', role: 'admin' })]);
      expect([bubbles.status, bubbles.json.data]).toEqual([200, []]);
      expect((await once('/v1/api-keys', { as })).json.data).toHaveLength(1);
    },
  );
});
