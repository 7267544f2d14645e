import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from './start.ts';

const FAILURES_TO_OPEN = 10;
const KIB = 1024;

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

/** Reads a head that `fetch` would find too long. */
const getWithLongHead = async (path: string): Promise<IncomingMessage> => {
  const [response]: IncomingMessage[] = await once(get(`${world.url}${path}`, { agent: false, maxHeaderSize: 256 * KIB }), 'response');
  if (response === undefined) throw new Error('no response');
  response.resume();
  await once(response, 'end');
  return response;
};

/** A service that repeats in its answer what an anonymous client has sent. */
describe('an answer with a long head', () => {
  const redirectTo = (location: string) => {
    world.bubbles.handle = ({ url }, res) => {
      if (url === '/v1/bubbles/open?quick') return void res.end('{}');
      res.writeHead(303, { location }).end();
    };
  };
  const expectOpenToOthers = async () => expect((await world.fetch('/v1/bubbles/open?quick')).status).toBe(200);

  it('[ERR-05] reaches the client', async () => {
    const location = `/${'x'.repeat(20 * KIB)}`;
    redirectTo(location);
    for (let n = 0; n < FAILURES_TO_OPEN + 2; n += 1) {
      const { statusCode, headers } = await getWithLongHead('/v1/bubbles/open');
      expect([statusCode, headers.location?.length]).toEqual([303, location.length]);
    }
    await expectOpenToOthers();
  });

  it('[ERR-05] is refused when nobody could read it, and others are served on', async () => {
    redirectTo(`/${'x'.repeat(70 * KIB)}`);
    for (let n = 0; n < FAILURES_TO_OPEN + 2; n += 1) {
      const { statusCode, headers } = await getWithLongHead('/v1/bubbles/open');
      expect([statusCode, headers['x-gateway-reason']]).toEqual([500, 'upstream-down']);
    }
    await expectOpenToOthers();
  });

  it('[ERR-05] what is no HTTP is refused, and others are served on', async () => {
    world.bubbles.handle = ({ url, socket }, res) => {
      if (url === '/v1/bubbles/open?quick') res.end('{}');
      else socket.end('HTTP/1.1 200 OK\r\nno header\r\n\r\n');
    };
    for (let n = 0; n < FAILURES_TO_OPEN + 2; n += 1)
      expect((await world.fetch('/v1/bubbles/open')).headers.get('x-gateway-reason')).toBe('upstream-down');
    await expectOpenToOthers();
  });
});
