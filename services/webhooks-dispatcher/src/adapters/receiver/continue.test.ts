import { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { passOverContinue } from './continue.ts';

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
