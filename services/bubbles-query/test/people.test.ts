import type { AccountFacts } from '@bubbles/contracts/internal/identity.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { ABSENT_PEER } from '@bubbles/testing/service-under-test.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, aPerson, BUBBLE, created } from './builders.ts';

const PATH = `/v1/bubbles/${BUBBLE}`;
const REBUILD = '/internal/v1/admin/rebuild-people';
const ACCOUNTS_PER_PAGE = 2;

const known = (user_id: string, fields: Partial<AccountFacts> = {}): AccountFacts => ({
  user_id,
  state: 'active',
  name: `${user_id} of identity`,
  email: `${user_id}@identity.test`,
  picture_url: null,
  revision: 5,
  ...fields,
});

interface FakeIdentity extends InternalClient {
  /** Where the pages began that were asked for. */
  readonly asked: (string | null)[];
  setUp(up: boolean): void;
}

/** The snapshot of identity, two accounts a page. */
const identityOf = (accounts: readonly AccountFacts[]): FakeIdentity => {
  let isUp = true;
  const asked: (string | null)[] = [];
  return {
    ...ABSENT_PEER,
    asked,
    setUp(up) {
      isUp = up;
    },
    get(path, { schema }) {
      if (!isUp) return Promise.reject(new DomainError('unavailable', 'identity could not be asked.'));
      const url = new URL(path, 'http://identity');
      const after = url.searchParams.get('after');
      asked.push(after);
      const page = accounts.filter(({ user_id }) => after === null || user_id > after).slice(0, ACCOUNTS_PER_PAGE);
      const next = page.length < ACCOUNTS_PER_PAGE ? null : (page.at(-1)?.user_id ?? null);
      return Promise.resolve(schema.parse({ version: 1, accounts: page, next_after: next }));
    },
  };
};

const everybody = ['ada', 'bob', 'cleo', 'dan', 'eve'];
const identity = () => identityOf(everybody.map((id) => known(id)));
const told = created({ participants: everybody.map((user_id) => aPerson({ user_id, name: 'as recorded' })) });

let bubbles: TestBubbles;
afterEach(() => bubbles.stop());
const names = async () => (await bubbles.read('ada', PATH)).body.participants.map(({ name }: { name: string }) => name);
const inFull = everybody.map((id) => `${id} of identity`);

describe('the names of people', () => {
  it('[LIST-10] are read from identity before the first event of an account', async () => {
    const source = identity();
    bubbles = await startBubbles({ identity: source });
    await bubbles.tell(told);
    await bubbles.service.settle();
    expect(await names()).toEqual(inFull);
    expect(source.asked).toEqual([null, 'bob', 'dan']);
  });

  it('[LIST-10] until then the recording tells them', async () => {
    bubbles = await startBubbles({ identity: ABSENT_PEER });
    await bubbles.tell(told);
    expect(await names()).toEqual(everybody.map(() => 'as recorded'));
  });

  it('[LIST-10] are not read again by the next process, and from where it was left after one that died', async () => {
    const source = identity();
    bubbles = await startBubbles({ identity: source });
    await bubbles.service.settle();
    const next = await startBubbles({ database: bubbles.database, identity: source });
    await next.service.settle();
    await next.stop();
    expect(source.asked).toEqual([null, 'bob', 'dan']);
  });

  it('[LIST-10] what was told meanwhile and is newer stays', async () => {
    const source = identity();
    source.setUp(false);
    bubbles = await startBubbles({ identity: source });
    await bubbles.tell(
      told,
      account({ user_id: 'ada', name: 'newer', revision: 6 }),
      account({ user_id: 'bob', name: 'older', revision: 4 }),
    );
    source.setUp(true);
    await bubbles.service.settle();
    expect(await names()).toEqual(['newer', ...inFull.slice(1)]);
  });

  it('[LIST-10] are read again for an operator, a page at a time', async () => {
    bubbles = await startBubbles({ identity: identityOf([]) });
    await bubbles.service.settle();
    const rebuilt = await startBubbles({ database: bubbles.database, identity: identity() });
    await rebuilt.tell(told);
    const pages: unknown[] = [];
    for (let body: object | null = {}; body !== null; ) {
      const answer = await rebuilt.ask('operator', REBUILD, body);
      pages.push(answer.body);
      body = answer.body.next_after === null ? null : { after: answer.body.next_after };
    }
    expect(pages).toEqual([
      { accounts: 2, next_after: 'bob' },
      { accounts: 2, next_after: 'dan' },
      { accounts: 1, next_after: null },
    ]);
    expect((await rebuilt.ask('gateway', REBUILD, {})).status).toBe(401);
    await rebuilt.stop();
    expect(await names()).toEqual(inFull);
  });

  it('[LIST-10] [ERR-05] an operator is told when identity is away', async () => {
    bubbles = await startBubbles({ identity: ABSENT_PEER });
    expect((await bubbles.ask('operator', REBUILD, {})).status).toBe(500);
  });
});
