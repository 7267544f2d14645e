import { existsSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** In a pod: asks the gateway with each token over a connection of its own, which is kept, until the file is there. Says what was answered otherwise than by 200. */
const [, , base, begun, until, ...tokens] = process.argv;
const PATHS = ['/v1/me', '/v1/bubbles?limit=5', '/v1/teams'];
/** A token may ask 120 times a minute. */
const BETWEEN_MS = 520;

let requests = 0;
let connections = 0;
const failures = [];

const ask = (agent, path, token) =>
  new Promise((resolve) => {
    const fail = (why) => {
      failures.push({ path, why, at: new Date().toISOString() });
      resolve();
    };
    const asked = request(new URL(path, base), { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      answer.resume();
      answer.on('error', ({ message }) => fail(message));
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : fail(answer.statusCode)));
    });
    asked.on('error', ({ message }) => fail(message));
    asked.on('socket', () => {
      if (!asked.reusedSocket) connections += 1;
    });
    asked.setTimeout(20_000, () => asked.destroy(new Error('no answer in 20 s')));
    asked.end();
    requests += 1;
  });

const work = async (token) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let turn = 0; !existsSync(until); turn += 1) {
    await ask(agent, PATHS[turn % PATHS.length], token);
    await pause(BETWEEN_MS);
  }
  agent.destroy();
};

const working = tokens.map(work);
writeFileSync(begun, '');
await Promise.all(working);
process.stdout.write(JSON.stringify({ requests, connections, failures }));
