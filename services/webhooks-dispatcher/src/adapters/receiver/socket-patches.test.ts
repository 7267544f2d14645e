import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { passOverContinue } from './socket-patches.ts';

/** What is read of an answer whose bytes come in these pieces, after a request was written. */
const readOf = (pieces: readonly string[], answersBefore: readonly string[] = []): string => {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  passOverContinue(socket);
  let text = '';
  for (const answer of [...answersBefore.map((before) => [before]), pieces]) {
    socket.write('POST / HTTP/1.1\r\n\r\n');
    socket.write('{}');
    text = '';
    for (const piece of answer) {
      socket.push(Buffer.from(piece, 'latin1'));
      text += socket.read()?.toString('latin1') ?? '';
    }
  }
  return text;
};

const CONTINUE = 'HTTP/1.1 100 Continue\r\nLink: </HTTP/1.1 100>\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
const renumbered = (text: string) => text.replaceAll('HTTP/1.1 100 Continue', 'HTTP/1.1 102 Continue');
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n';
const LOOKS_LIKE_IT = 'HTTP/1.1 100 Continue\r\n\r\nx';

describe('DLV-04 interim answers', () => {
  const answer = `${CONTINUE}${HINTS}${CONTINUE}`;

  it.each(Array.from({ length: answer.length + OK.length }, (_, at) => at))(
    '[DLV-04] in two packets, the second from byte %i on, are passed over, and the body is left alone',
    (at) => {
      const text = answer + OK + LOOKS_LIKE_IT;
      expect(readOf([text.slice(0, at), text.slice(at)].filter((piece) => piece !== ''))).toBe(renumbered(answer) + OK + LOOKS_LIKE_IT);
    },
  );

  it('[DLV-04] are passed over byte by byte', () => {
    expect(readOf([...(answer + OK + LOOKS_LIKE_IT)])).toBe(renumbered(answer) + OK + LOOKS_LIKE_IT);
  });

  it('[DLV-04] a body that begins like a status line is left alone, also in a packet of its own', () => {
    expect(readOf([OK, LOOKS_LIKE_IT])).toBe(OK + LOOKS_LIKE_IT);
    expect(readOf([CONTINUE, OK, LOOKS_LIKE_IT], [OK + LOOKS_LIKE_IT])).toBe(renumbered(CONTINUE) + OK + LOOKS_LIKE_IT);
  });

  it.each([
    'SSH-2.0-1 100',
    'HTTP/2.0 100 Continue\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 110 x\r\n\r\n',
    `${HINTS}HTTP/1.1 500 no\r\n\r\n${LOOKS_LIKE_IT}`,
    `HTTP/1.1 404 no\r\n\r\n${LOOKS_LIKE_IT}`,
  ])('%j stays as it is', (text) => {
    expect(readOf([text])).toBe(text);
    expect(readOf([...text])).toBe(text);
  });

  it('HTTP/1.0 and line breaks before the status line change nothing', () => {
    expect(readOf(['\r\nHTTP/1.0 100 Continue\n\n\r\n', CONTINUE, OK])).toBe(
      `\r\nHTTP/1.0 102 Continue\n\n\r\n${renumbered(CONTINUE)}${OK}`,
    );
  });
});

/** Posts with undici as it is, one after the other over one connection, to a server that does to each request what is said; answers their statuses. */
const unpatched = async (posts: number, behave: (socket: Socket, turn: number) => unknown): Promise<number[]> => {
  const server = createServer((socket) => {
    let turn = 0;
    socket.on('error', () => null);
    socket.on('data', () => {
      turn += 1;
      behave(socket, turn);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  const dispatcher = new Agent({ connections: 1 });
  try {
    const statuses: number[] = [];
    for (let n = 0; n < posts; n += 1) {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}', dispatcher });
      await body.dump();
      statuses.push(statusCode);
    }
    return statuses;
  } finally {
    await dispatcher.destroy();
    server.close();
  }
};

describe('undici as it is', () => {
  const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';

  it('ends the connection at 100 Continue: when this fails passOverContinue can go', async () => {
    const answering = (text: string) => unpatched(1, (socket) => socket.write(text));
    expect(await answering(`HTTP/1.1 102 Processing\r\n\r\n${NO_CONTENT}`)).toEqual([204]);
    await expect(answering(`HTTP/1.1 100 Continue\r\n\r\n${NO_CONTENT}`)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  });

  it('gives up a POST on a kept connection that its server closed: when this fails idleDeaths can go', async () => {
    const once = (socket: Socket, turn: number) => (turn === 1 ? socket.write(NO_CONTENT) : socket.end());
    await expect(unpatched(2, once)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  });
});
