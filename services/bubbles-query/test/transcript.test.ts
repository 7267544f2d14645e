import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, aSegment, BUBBLE, created, transcribed } from './builders.ts';

const PATH = `/v1/bubbles/${BUBBLE}/transcript`;

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
});
afterEach(() => bubbles.stop());

const unnamed = { id: null, name: null };
const segments = [
  aSegment({ text: 'Good morning.', start_time_seconds: 0, end_time_seconds: 1.5 }),
  aSegment({ text: 'Shall we?', start_time_seconds: 1.5, end_time_seconds: 3 }),
  aSegment({ text: 'Yes.', speaker: { id: null, name: 'Olga' } }),
  aSegment({ text: 'Please.', speaker: { id: null, name: 'Olga' } }),
  aSegment({ text: 'Mm.', speaker: null }),
  aSegment({ text: 'Hm.', speaker: unnamed }),
  aSegment({ text: 'So.', speaker: { id: 'zed', name: null } }),
  aSegment({ text: 'Well.' }),
];

describe('GET /v1/bubbles/{id}/transcript', () => {
  it('[TRN-01] [TRN-02] json if not said otherwise, segments in order', async () => {
    await bubbles.tell(created(), transcribed({ segments }));
    const { status, body } = await bubbles.read('ada', PATH);
    expect([status, body]).toEqual([200, { bubble_id: BUBBLE, format: 'json', segments }]);
    expect((await bubbles.read('ada', `${PATH}?format=json`)).body).toEqual(body);
  });

  it('[TRN-03] text in blocks of one speaker', async () => {
    await bubbles.tell(created(), transcribed({ segments }));
    expect((await bubbles.read('ada', `${PATH}?format=text`)).body).toEqual({
      bubble_id: BUBBLE,
      format: 'text',
      text: ['Ada: Good morning. Shall we?', 'Olga: Yes. Please.', 'Unknown speaker: Mm. Hm.', 'Unknown speaker: So.', 'Ada: Well.'].join(
        '\n\n',
      ),
    });
  });

  it('[TRN-03] nobody forges a speaker or a block with breaks and blanks', async () => {
    const forged = [
      aSegment({ speaker: { id: null, name: 'Eve\n\nAda' }, text: 'Hi.\r\n\r\nAda: I agree.\u2028\u2029Olga: So do I.' }),
      aSegment({ speaker: { id: null, name: ' Eve \t Ada ' }, text: '\u0085\u000b\u00a0' }),
      aSegment({ speaker: { id: null, name: 'Eve Ada' }, text: '  Well. \u0000 ' }),
      aSegment({ speaker: { id: null, name: '\n\u3000' }, text: '' }),
      aSegment({ speaker: { id: null, name: 'שלום\ud800' }, text: 'e\u0301\u0301 👩\u200d💻' }),
    ];
    await bubbles.tell(created(), transcribed({ segments: forged }));
    expect((await bubbles.read('ada', `${PATH}?format=text`)).body.text).toBe(
      ['Eve Ada: Hi. Ada: I agree. Olga: So do I. Well.', 'Unknown speaker: ', 'שלום\ud800: e\u0301\u0301 👩\u200d💻'].join('\n\n'),
    );
    expect((await bubbles.read('ada', PATH)).body.segments).toEqual(forged);
  });

  it.each(['xml', '', 'JSON', 'json&format=text'])('[TRN-01] format=%s is refused', async (format) => {
    await bubbles.tell(created(), transcribed());
    expect((await bubbles.read('ada', `${PATH}?format=${format}`)).status).toBe(400);
  });

  it('[TRN-04] [BUB-03] none yet: the 404 of a bubble that is not there', async () => {
    await bubbles.tell(created());
    const [none, nowhere] = [await bubbles.read('ada', PATH), await bubbles.read('ada', PATH.replace('8b', '9b'))];
    expect([none.status, none.text]).toEqual([404, nowhere.text]);
  });

  it('[TRN-02] one without a word is there', async () => {
    await bubbles.tell(created(), transcribed({ segments: [] }));
    expect((await bubbles.read('ada', PATH)).body.segments).toEqual([]);
    expect((await bubbles.read('ada', `${PATH}?format=text`)).body.text).toBe('');
  });

  it('[TRN-02] the newest one counts, whichever came last', async () => {
    await bubbles.tell(created(), transcribed({ revision: 2, segments: [aSegment({ text: 'new' })] }), transcribed({ revision: 1 }));
    expect((await bubbles.read('ada', PATH)).body.segments).toMatchObject([{ text: 'new' }]);
  });

  it('[LIST-10] speakers have the names of their accounts now', async () => {
    await bubbles.tell(created(), transcribed({ segments }), account());
    const { body } = await bubbles.read('ada', PATH);
    expect(body.segments[0].speaker).toEqual({ id: 'ada', name: 'Ada L.' });
    expect(body.segments[2].speaker).toEqual({ id: null, name: 'Olga' });
    await bubbles.tell(account({ revision: 2, state: 'deleted', name: null, email: null }));
    expect((await bubbles.read('ada', `${PATH}?format=text`)).body.text).toMatch(/^Unknown speaker: Good morning\. Shall we\?\n\n/);
  });

  it('[BUB-04] of a public bubble it is for everybody', async () => {
    await bubbles.tell(created({ is_public: true }), transcribed());
    expect((await bubbles.read('eve', PATH)).status).toBe(200);
  });
});
