import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';

const SCRIPT = readFileSync(new URL('../../deploy/mongodb/users.js', import.meta.url), 'utf8');
const USERS = [
  { user: 'signup', database: 'bubbles_signup', role: 'readWrite', password: 'one' },
  { user: 'bubbles-query', database: 'bubbles_query', role: 'readWrite', password: 'two' },
];
const NOT_YET_INITIALIZED = 94;

interface Wanted {
  readonly pwd: string;
  readonly roles: readonly { readonly role: string; readonly db: string }[];
}

/** What the shell hands to a script, on a store that keeps users alone; each user counts how often it was made. */
const shell = ({
  code = NOT_YET_INITIALIZED,
  primary = 'mongodb:27017',
}: {
  readonly code?: number;
  readonly primary?: string | null;
} = {}) => {
  const me = 'mongodb:27017';
  const users = new Map<string, Wanted>();
  const acts: string[] = [];
  const urls: string[] = [];
  let [isSet, isPrimary, sleeps] = [false, false, 0];
  const databaseOf = (database: string) => ({
    getUser: (user: string) => (users.has(`${database}.${user}`) ? { user } : null),
    createUser({ user, ...wanted }: Wanted & { readonly user: string }) {
      acts.push(`create ${user}`);
      users.set(`${database}.${user}`, wanted);
    },
    updateUser(user: string, wanted: Wanted) {
      acts.push(`update ${user}`);
      users.set(`${database}.${user}`, wanted);
    },
  });
  const root = {
    adminCommand(command: Readonly<Record<string, unknown>>) {
      if ('replSetInitiate' in command) {
        isSet = true;
        acts.push(`initiate ${JSON.stringify(command['replSetInitiate'])}`);
      } else if (!isSet) throw Object.assign(new Error('no replset config has been received'), { code });
    },
    hello: () => ({ me, ...(primary !== null && { primary }), isWritablePrimary: isPrimary }),
    getSiblingDB: databaseOf,
  };
  const files: Readonly<Record<string, string>> = { '/keys/root-password': 'secret', '/keys/users.json': JSON.stringify(USERS) };
  const run = () =>
    runInNewContext(SCRIPT, {
      require: (name: string) =>
        name === 'node:fs' ? { readFileSync: (path: string) => files[path] } : createRequire(import.meta.url)(name),
      process: { env: { KEYS_FOLDER: '/keys', STORE: 'mongodb:27017' } },
      connect(url: string) {
        urls.push(url);
        return root;
      },
      sleep() {
        sleeps += 1;
        if (sleeps > 10_000) throw new Error('it waits for ever');
        isPrimary = primary === me;
      },
      print: () => undefined,
    });
  return { users, acts, urls, run };
};

describe('the users of the store', () => {
  it('are made in their own database, with that alone, once there is a primary', () => {
    const { users, acts, urls, run } = shell();
    run();
    expect(urls).toEqual(['mongodb://root:secret@mongodb:27017/admin?directConnection=true']);
    expect(acts).toEqual([
      `initiate ${JSON.stringify({ _id: 'rs0', members: [{ _id: 0, host: 'mongodb:27017' }] })}`,
      'create signup',
      'create bubbles-query',
    ]);
    expect(Object.fromEntries(users)).toEqual({
      'bubbles_signup.signup': { pwd: 'one', roles: [{ role: 'readWrite', db: 'bubbles_signup' }] },
      'bubbles_query.bubbles-query': { pwd: 'two', roles: [{ role: 'readWrite', db: 'bubbles_query' }] },
    });
  });

  it('that are there get their password and their rights again', () => {
    const { users, acts, run } = shell();
    run();
    const before = new Map(users);
    users.set('bubbles_signup.signup', { pwd: 'other', roles: [{ role: 'root', db: 'admin' }] });
    acts.length = 0;
    run();
    expect(acts).toEqual(['update signup', 'update bubbles-query']);
    expect(users).toEqual(before);
  });

  it('are not made while the store says something else than that it is no replica set', () => {
    const { acts, run } = shell({ code: 13 });
    expect(run).toThrow('no replset config');
    expect(acts).toEqual([]);
  });

  it('are not made on a secondary, which names the primary', () => {
    const { acts, run } = shell({ primary: 'other:27017' });
    expect(run).toThrow('mongodb:27017 is a secondary: run this with STORE=other:27017, the primary');
    expect(acts.filter((act) => !act.startsWith('initiate'))).toEqual([]);
  });

  it('are not waited for without end while the set has no primary', () => {
    expect(shell({ primary: null }).run).toThrow('no primary');
  });
});
