import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Answer, send } from './client.ts';
import type { Person, World } from './world.ts';

export type Method = 'POST' | 'GET';
type Fields = Readonly<Record<string, unknown>>;

/** An agent at a client address of its own, since starts are counted by it. */
export interface SignupAgent {
  /** One step, by its POST unless the alias is named. */
  step(path: string, fields: Fields, method?: Method): Promise<Answer>;
  /** A GET or HEAD as it is written. */
  ask(path: string, method?: 'GET' | 'HEAD'): Promise<Answer>;
  /** The code that was mailed last, for the flow that was `started` last. */
  code(address: string): Promise<string>;
  /** All codes that were mailed, newest first; waits until there are `count`. */
  codes(address: string, count: number): Promise<readonly string[]>;
  started(address: string): Promise<string>;
  verified(address: string): Promise<string>;
  listed(address: string): Promise<string>;
  created(address: string, name?: string): Promise<string>;
}

const CODE = /\b\d{6}\b/;
const MAIL_LIMIT_MS = 120_000;

const THIS_MACHINE: readonly string[] = ['127.0.0.1', 'localhost'];
/** All of 127.0.0.0/8 is this machine; elsewhere it is what a trusted proxy says. */
const freshClient = (): string => `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;

const queryOf = (fields: Fields): string => `?${new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))}`;

export const signupAgent = (world: Pick<World, 'baseUrl' | 'mails'>): SignupAgent => {
  const client = freshClient();
  const { hostname, port } = new URL(world.baseUrl);
  const isHere = THIS_MACHINE.includes(hostname);
  const place = isHere ? { host: '127.0.0.1', port, localAddress: client } : { host: hostname, port };
  const forwarded = isHere ? {} : { 'x-forwarded-for': client };
  const exchange = async (method: string, path: string, body: string | null): Promise<Answer> => {
    const typed = body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request({ ...place, method, path, headers: { ...typed, ...forwarded }, agent: false });
    sent.end(body ?? undefined);
    const [response] = await once(sent, 'response');
    const received = await text(response);
    const answered = new Headers(Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]));
    return { status: response.statusCode, headers: answered, text: received, json: received === '' ? null : JSON.parse(received) };
  };
  const step: SignupAgent['step'] = (path, fields, method = 'POST') =>
    method === 'POST'
      ? exchange('POST', `/v1/signup/${path}`, JSON.stringify(fields))
      : exchange('GET', `/v1/signup/${path}${queryOf(fields)}`, null);
  const taken = async (path: string, fields: Fields): Promise<string> => {
    const answer = await step(path, fields);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.json.signup_session;
  };
  const codes = async (address: string, count: number): Promise<readonly string[]> => {
    // On the stack a mail may come a little later than the answer.
    const deadline = performance.now() + MAIL_LIMIT_MS;
    for (;;) {
      const found = (await world.mails(address)).flatMap(({ text: said }) => CODE.exec(said) ?? []);
      if (found.length >= count) return found;
      if (performance.now() > deadline) throw new Error(`${found.length} codes were mailed`);
    }
  };
  const mailedBefore = new Map<string, number>();
  const code = async (address: string): Promise<string> => (await codes(address, 1 + (mailedBefore.get(address) ?? 0)))[0] ?? '';
  // From another client each time, so that a test may begin as many flows as it likes.
  const started = async (address: string): Promise<string> => {
    mailedBefore.set(address, (await world.mails(address)).length);
    const answer = await signupAgent(world).step('start', { email: address });
    if (answer.status !== 200) throw new Error(`start: ${answer.status} ${answer.text}`);
    return answer.json.signup_session;
  };
  const verified = async (address: string) => {
    const signup_session = await started(address);
    return taken('verify', { signup_session, code: await code(address) });
  };
  const listed = async (address: string) => taken('workspaces', { signup_session: await verified(address) });
  return {
    step,
    ask: (path, method = 'GET') => exchange(method, path, null),
    code,
    codes,
    started,
    verified,
    listed,
    created: async (address, workspace_name = 'Acme') =>
      taken('workspace', { signup_session: await listed(address), action: 'create', workspace_name }),
  };
};

export const refusalOf = ({ status, json }: Answer): readonly unknown[] => [status, json?.error?.type];
export const freshDomain = (): string => `acme-${randomUUID().slice(0, 8)}.example`;
export const joining = (signup_session: string, team_id: string) => ({ signup_session, action: 'join', team_id });
export const creating = (signup_session: string, workspace_name = 'Acme') => ({ signup_session, action: 'create', workspace_name });
/** A team of that domain with an admin, which their colleagues may join. */
export const openTeam = async (world: World, domain: string, fields: object = {}) => {
  const founder = await world.user();
  return world.team({
    name: 'Acme',
    plan: 'pro',
    domain,
    discoverable: true,
    members: [{ user_id: founder.id, role: 'admin' }],
    ...fields,
  });
};
export const teamsOf = async (world: World, { pat: as }: Person) => (await send(world.baseUrl, '/v1/teams', { as })).json.data;

/** Another code than that one. */
export const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000');

/** What an answer says, without what is drawn for it alone. */
export const withoutTokens = ({ text: body }: Answer): string =>
  body
    .replaceAll(/svc_signup_[\w-]{43}/g, 'session')
    .replaceAll(/(connect\/calendar\/\w+)[^"]*/g, '$1')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id');
