import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, aSegment, BUBBLE, created, transcribed } from './builders.ts';

const PATH = `/v1/bubbles/${BUBBLE}/export`;

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
});
afterEach(() => bubbles.stop());

const exported = async (format: string, as = 'ada') => {
  const { status, headers, text } = await bubbles.read(as, `${PATH}?format=${format}`);
  return {
    status,
    type: headers.get('content-type'),
    file: headers.get('content-disposition'),
    length: headers.get('content-length'),
    text,
  };
};

describe('GET /v1/bubbles/{id}/export', () => {
  it.each([
    ['vtt', 'text/vtt', 'vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n<v Ada>Good morning.\n'],
    ['srt', 'application/x-subrip', 'srt', '1\n00:00:00,000 --> 00:00:02,000\nAda: Good morning.\n'],
    ['markdown', 'text/markdown', 'md', '# Weekly\n\n**Ada** (00:00:00)\n\nGood morning.\n'],
  ])('[API-05] %s is a file', async (format, type, extension, text) => {
    await bubbles.tell(created({ title: 'Weekly' }), transcribed());
    expect(await exported(format)).toEqual({
      status: 200,
      type: `${type}; charset=utf-8`,
      file: `attachment; filename=Weekly.${extension}`,
      length: String(text.length),
      text,
    });
  });

  it('[API-05] a title of any characters names the file', async () => {
    await bubbles.tell(created({ title: 'Ré"su\r\nmé 50%41 你好\ud800; filename=x.exe' }), transcribed());
    expect((await exported('vtt')).file).toBe(
      `attachment; filename="R? su m? 50%41 ???; filename=x.exe.vtt"; filename*=UTF-8''R%C3%A9%20su%20m%C3%A9%2050%2541%20%E4%BD%A0%E5%A5%BD%EF%BF%BD%3B%20filename%3Dx.exe.vtt`,
    );
    await bubbles.tell(created({ revision: 2, title: null }));
    expect((await exported('srt')).file).toBe('attachment; filename=Transcript.srt');
  });

  it.each(['', '?format=', '?format=json', '?format=VTT', '?format=vtt&format=vtt', '?format=vtt%00'])(
    '[API-05] %s is refused',
    async (query) => {
      await bubbles.tell(created(), transcribed());
      const { status, body } = await bubbles.read('ada', PATH + query);
      expect([status, body.error.type]).toEqual([400, 'invalid_request']);
    },
  );

  it('[API-05] [BUB-03] without a transcript, or for others, it is the 404 of a bubble that is not there', async () => {
    await bubbles.tell(created());
    const nowhere = await bubbles.read('ada', `${PATH.replace('8b', '9b')}?format=vtt`);
    const none = await bubbles.read('ada', `${PATH}?format=vtt`);
    await bubbles.tell(transcribed());
    const foreign = await bubbles.read('eve', `${PATH}?format=vtt`);
    expect([nowhere.status, none.status, foreign.status]).toEqual([404, 404, 404]);
    expect([none.text, foreign.text]).toEqual([nowhere.text, nowhere.text]);
  });

  it('[API-05] it takes the scope of reading', async () => {
    await bubbles.tell(created(), transcribed());
    const { status, body } = await bubbles.read('ada', `${PATH}?format=vtt`, { scopes: ['webhooks:manage'] });
    expect([status, body.error.type]).toEqual([403, 'forbidden']);
  });

  it('[LIST-10] speakers have the names of their accounts now', async () => {
    await bubbles.tell(created(), transcribed(), account());
    expect((await exported('vtt')).text).toContain('<v Ada L.>Good morning.');
    await bubbles.tell(account({ revision: 2, state: 'deleted', name: null, email: null }));
    expect((await exported('vtt')).text).toContain('\nGood morning.');
  });

  it('[API-05] of a hundred thousand segments it has them all', async () => {
    const segments = Array.from({ length: 100_000 }, (_, n) => aSegment({ text: `${n}`, start_time_seconds: n, end_time_seconds: n + 1 }));
    await bubbles.tell(created(), transcribed({ segments }));
    expect((await exported('srt')).text.endsWith('\n100000\n27:46:39,000 --> 27:46:40,000\nAda: 99999\n')).toBe(true);
  });
});
