/**
 * mongosh --nodb users.js: makes the replica set when it is none yet, and a user for each database with its rights. Safe to repeat: a user that is there gets
 * the password and the rights that it should have. `KEYS_FOLDER` is one with `root-password` and `users.json` (deploy/mongodb/users.json with passwords),
 * `STORE` the address of the primary. A set of three members is made beforehand with rs.initiate; then this adds the users alone.
 */
const { readFileSync } = require('node:fs');
const { KEYS_FOLDER, STORE } = process.env;
const read = (name) => readFileSync(`${KEYS_FOLDER}/${name}`, 'utf8');
const REPLICA_SET = 'rs0';
const NOT_YET_INITIALIZED = 94;
const NO_SUCH_USER = null;
const ELECTION_MS = 60_000;

const root = connect(`mongodb://root:${read('root-password')}@${STORE}/admin?directConnection=true`);

try {
  root.adminCommand({ replSetGetStatus: 1 });
} catch (error) {
  if (error.code !== NOT_YET_INITIALIZED) throw error;
  root.adminCommand({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host: STORE }] } });
}
for (let waitedMs = 0; ; waitedMs += 100) {
  const { isWritablePrimary, primary, me } = root.hello();
  if (isWritablePrimary) break;
  if (primary && primary !== me) throw new Error(`${STORE} is a secondary: run this with STORE=${primary}, the primary`);
  if (waitedMs >= ELECTION_MS) throw new Error(`${STORE} knows no primary: its replica set has no majority`);
  sleep(100);
}

for (const { user, database, role, password } of JSON.parse(read('users.json'))) {
  const own = root.getSiblingDB(database);
  const wanted = { pwd: password, roles: [{ role, db: database }] };
  if (own.getUser(user) === NO_SUCH_USER) own.createUser({ user, ...wanted });
  else own.updateUser(user, wanted);
}
print('users are there');
