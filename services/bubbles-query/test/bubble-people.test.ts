import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { identityKnowing, type MembershipsOf, startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, anOutsider, aPerson, BUBBLE, changed, created } from './builders.ts';

const PATH = `/v1/bubbles/${BUBBLE}`;

/** Of whoever is asked for; null when identity cannot be asked. */
let memberships: ReturnType<MembershipsOf> = [];
const identity = identityKnowing(() => memberships);

let bubbles: TestBubbles;
beforeEach(async () => {
  memberships = [];
  bubbles = await startBubbles({ identity });
});
afterEach(() => bubbles.stop());

describe('people of a bubble', () => {
  const guests = [aPerson(), anOutsider(), anOutsider({ user_id: 'zed', name: 'Zed', email: 'zed@Other.TEST' })];

  it('[BUB-05] addresses are for those who take part or belong to the team', async () => {
    await bubbles.tell(created({ is_public: true, author: anOutsider(), participants: guests }));
    const seen = async (userId: string, teams: ReturnType<MembershipsOf>) => {
      memberships = teams;
      const { body } = await bubbles.read(userId, PATH);
      const people: { email: string | null }[] = [body.author, ...body.participants];
      return [people.map(({ email }) => email), body.external_participant_email_domains, body.has_external_participants];
    };
    const everything = [
      ['olga@outside.test', 'ada@acme.test', 'olga@outside.test', 'zed@Other.TEST'],
      ['other.test', 'outside.test'],
      true,
    ];
    const nothing = [[null, null, null, null], [], true];
    expect(await seen('ada', null)).toEqual(everything);
    expect(await seen('bob', [{ team_id: 'acme', role: 'guest', hidden: false }])).toEqual(everything);
    expect(await seen('bob', [{ team_id: 'acme', role: 'member', hidden: true }])).toEqual(nothing);
    expect(await seen('bob', [{ team_id: 'other', role: 'member', hidden: false }])).toEqual(nothing);
    const many = Array.from({ length: 3000 }, (_, n) => ({ team_id: `team-${n}`, role: 'member' as const, hidden: false }));
    expect(await seen('bob', [...many, { team_id: 'acme', role: 'member', hidden: false }])).toEqual(everything);
  });

  it('[ERR-05] whoever does not take part is told to come again when identity cannot be asked', async () => {
    await bubbles.tell(created({ is_public: true }));
    memberships = null;
    expect((await bubbles.read('bob', PATH)).status).toBe(500);
  });

  it('[BUB-05] belonging to no team is not belonging to the team of a bubble without one', async () => {
    await bubbles.tell(created({ is_public: true, team_id: null }));
    expect((await bubbles.read('bob', PATH)).body.participants).toEqual([{ id: 'ada', name: 'Ada', email: null }]);
  });

  it('[BUB-06] outside is who the recording says was outside; later names change nothing of that', async () => {
    await bubbles.tell(
      created({ participants: [aPerson(), anOutsider({ email: 'Zed@B.test' }), anOutsider({ email: 'a@b.TEST' })] }),
      account(),
    );
    const { body } = await bubbles.read('ada', PATH);
    expect([body.has_external_participants, body.external_participant_email_domains]).toEqual([true, ['b.test']]);
    await bubbles.tell(changed({ participants: [aPerson({ is_external: true, email: null })] }));
    expect((await bubbles.read('ada', PATH)).body).toMatchObject({
      has_external_participants: true,
      external_participant_email_domains: ['acme.test'],
    });
  });

  it('[BUB-06] [BUB-07] a member who is named once more by address alone is one person, and nobody outside', async () => {
    const twice = [aPerson(), anOutsider({ email: 'Ada@ACME.test' })];
    await bubbles.tell(created({ participants: twice }), account());
    const { body } = await bubbles.read('ada', PATH);
    expect(body).toMatchObject({
      participants: [{ id: 'ada' }],
      has_external_participants: false,
      external_participant_email_domains: [],
    });
    await bubbles.tell(changed({ participants: [...twice, anOutsider()] }));
    expect((await bubbles.read('ada', PATH)).body).toMatchObject({
      has_external_participants: true,
      external_participant_email_domains: ['outside.test'],
    });
  });

  it('[BUB-07] somebody without an account has an id of that bubble and address alone, which says nothing of it', async () => {
    const other = '8b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f11';
    const people = [aPerson(), anOutsider({ email: 'Olga@Outside.test' }), anOutsider({ email: null }), anOutsider({ email: null })];
    await bubbles.tell(
      created({ author: anOutsider({ name: null }), participants: people }),
      created({ bubble_id: other, participants: people }),
    );
    const ids = async (id: string) => {
      const { body } = await bubbles.read('ada', `/v1/bubbles/${id}`);
      return [body.author, ...body.participants].map((person: { id: string }) => person.id);
    };
    const here = await ids(BUBBLE);
    const [author, ada, olga, first, second] = here;
    expect(author).toBe(olga);
    expect(ada).toBe('ada');
    expect(new Set(here)).toHaveProperty('size', 4);
    for (const id of [olga, first, second]) expect(id).toMatch(/^ext_[A-Za-z0-9_-]{24}$/);
    await bubbles.tell(
      changed({ author: anOutsider({ name: 'O.' }), participants: [...people.slice(0, 1), ...people.slice(2), anOutsider()] }),
    );
    expect(await ids(BUBBLE)).toEqual([olga, 'ada', first, second, olga]);
    expect((await ids(other))[2]).not.toBe(olga);
  });

  it('[BUB-06] [BUB-07] somebody outside is one person for each address, however it is written', async () => {
    const participants = [
      aPerson(),
      anOutsider({ name: null }),
      anOutsider({ email: 'OLGA@Outside.TEST' }),
      anOutsider({ name: 'O.', email: ' olga@outside.test. ' }),
      anOutsider({ name: 'Jan', email: 'jan@Bücher.example' }),
      anOutsider({ name: 'J', email: 'jan@xn--bcher-kva.example.' }),
      anOutsider({ name: 'Zed', email: 'ZED@other.test' }),
      anOutsider({ user_id: 'zed', name: 'Zed', email: 'zed@other.test' }),
      anOutsider({ name: 'No address', email: null }),
      anOutsider({ name: 'No domain', email: 'no domain@a b' }),
    ];
    await bubbles.tell(created({ participants }));
    const { body } = await bubbles.read('ada', PATH);
    expect(body.participants.map(({ name, email }: { name: string; email: string }) => [name, email])).toEqual([
      ['Ada', 'ada@acme.test'],
      ['Olga', 'olga@outside.test'],
      ['Jan', 'jan@Bücher.example'],
      ['Zed', 'zed@other.test'],
      ['No address', null],
      ['No domain', 'no domain@a b'],
    ]);
    expect(body.external_participant_email_domains).toEqual(['other.test', 'outside.test', 'xn--bcher-kva.example']);
  });

  it('[BUB-06] somebody outside keeps the id of their address when it is written in another way', async () => {
    const idOf = async (email: string, revision: number) => {
      await bubbles.tell(changed({ revision, participants: [aPerson(), anOutsider({ email })] }));
      return (await bubbles.read('ada', PATH)).body.participants[1].id;
    };
    const id = await idOf('olga@outside.test', 2);
    expect([await idOf('Olga@OUTSIDE.test ', 3), await idOf('olga@outside.test.', 4)]).toEqual([id, id]);
    expect(await idOf('olga@outside.test.org', 5)).not.toBe(id);
  });

  it('[BUB-07] another key gives other ids, so that they cannot be told without it', async () => {
    await bubbles.tell(created({ author: anOutsider() }));
    const rekeyed = await startBubbles({ database: bubbles.database, environment: { PERSON_KEY: Buffer.alloc(32, 9).toString('base64') } });
    const [one, two] = [(await bubbles.read('ada', PATH)).body.author.id, (await rekeyed.read('ada', PATH)).body.author.id];
    await rekeyed.stop();
    expect(one).not.toBe(two);
  });

  it('[LIST-10] names and addresses are those of the account now; of a deleted one there are none', async () => {
    await bubbles.tell(created());
    const people = async () => {
      const { body } = await bubbles.read('ada', PATH);
      return [body.author, body.participants[0]];
    };
    expect(await people()).toEqual(Array(2).fill({ id: 'ada', name: 'Ada', email: 'ada@acme.test' }));
    await bubbles.tell(account({ revision: 2 }), account({ revision: 1, name: 'Old' }));
    expect(await people()).toEqual(Array(2).fill({ id: 'ada', name: 'Ada L.', email: 'l@acme.test' }));
    await bubbles.tell(account({ revision: 3, state: 'deleted', name: null, email: null }));
    expect(await people()).toEqual(Array(2).fill({ id: 'ada', name: null, email: null }));
  });
});
