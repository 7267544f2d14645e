import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { runInNewContext } from 'node:vm';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

/** Runs the script of mongosh that it is given at stdin, with what `deploy/mongodb/users.js` asks of that shell. */

type Command = Readonly<Record<string, unknown>>;

/** Sends the commands in a thread of its own, since scripts of the shell wait for each answer. */
const SENDER = `
  const { workerData: { port, answered } } = require('node:worker_threads');
  const { MongoClient } = require('mongodb');
  const send = async ({ url, database, command }) => {
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 });
    try {
      const { ok, users, isWritablePrimary } = await client.db(database).command(command);
      return { answer: JSON.stringify({ ok, users, isWritablePrimary }) };
    } catch ({ message, code }) {
      return { refusal: message, code };
    } finally {
      await client.close();
    }
  };
  port.on('message', async (order) => {
    port.postMessage(await send(order));
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
  });`;

const answered = new Int32Array(new SharedArrayBuffer(4));
const { port1: orders, port2: port } = new MessageChannel();
const sender = new Worker(SENDER, { eval: true, workerData: { port, answered }, transferList: [port] });

const commandAt = (url: string) => (database: string, command: Command) => {
  Atomics.store(answered, 0, 0);
  orders.postMessage({ url, database, command });
  Atomics.wait(answered, 0, 0);
  const { answer, refusal, code } = receiveMessageOnPort(orders)?.message ?? {};
  if (answer === undefined) throw Object.assign(new Error(refusal), { code });
  return JSON.parse(answer);
};

const connect = (url: string) => {
  const command = commandAt(url);
  return {
    adminCommand: (one: Command) => command('admin', one),
    hello: () => command('admin', { hello: 1 }),
    getSiblingDB: (database: string) => ({
      getUser: (user: string) => command(database, { usersInfo: user }).users[0] ?? null,
      createUser: ({ user, ...wanted }: Command) => command(database, { createUser: user, ...wanted }),
      updateUser: (user: string, wanted: Command) => command(database, { updateUser: user, ...wanted }),
    }),
  };
};

const print = (line: string) => process.stdout.write(`${line}\n`);
try {
  runInNewContext(await text(process.stdin), { connect, print, process, require: createRequire(import.meta.url) });
} finally {
  await sender.terminate();
  orders.close();
}
