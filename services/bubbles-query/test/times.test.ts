import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BubbleDoc } from '../src/adapters/store/bubbles.ts';
import type { CardDoc } from '../src/adapters/store/cards.ts';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { bubbleId, created, removed } from './builders.ts';
import { idsIn, searchPath } from './search-scene.ts';

/** Newest first, as they must come. */
const TIMES = [
  '9999-12-31T23:59:59.999Z',
  '3000-01-01T00:00:00.000Z',
  '2286-11-20T17:46:40.000Z',
  '2286-11-20T17:46:39.999Z',
  '2026-01-01T00:00:00.000Z',
  '1970-01-01T00:00:00.001Z',
  '1970-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '1900-01-01T00:00:00.000Z',
  '0001-01-01T00:00:00.000Z',
  '0000-01-01T00:00:00.000Z',
  null,
] as const;
/** No order of ids is the order of times. */
const idAt = (place: number): string => bubbleId((place * 7 + 3) % TIMES.length);
const IDS = TIMES.map((_, place) => idAt(place));
const PATHS = { list: '/v1/bubbles?', search: `${searchPath('weekly')}&` };

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
  await bubbles.tell(...TIMES.map((created_at, place) => created({ bubble_id: idAt(place), created_at })));
});
afterEach(() => bubbles.stop());

const idsOf = async (path: string) => idsIn(await bubbles.read('ada', path));
const walk = async (path: string, between: (last: string) => Promise<void> = () => Promise.resolve()) => {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await bubbles.read('ada', `${path}limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
    const [id] = body.data.map((row: { id: string }) => row.id);
    seen.push(id);
    cursor = body.next_cursor;
    await between(id);
  }
  return seen;
};

describe.each(Object.entries(PATHS))('times of all years in the %s', (_, path) => {
  it('[LIST-01] [SRCH-06] come newest first, no time last', async () => {
    expect(await idsOf(path)).toEqual(IDS);
    const { body } = await bubbles.read('ada', path);
    expect(body.data.map((row: { created_at: string | null }) => row.created_at)).toEqual(TIMES);
  });

  it('[LIST-07] [SRCH-06] page by page, though the row that a cursor names goes', async () => {
    expect(await walk(path)).toEqual(IDS);
    expect(await walk(path, (id) => bubbles.tell(removed({ bubble_id: id })))).toEqual(IDS);
  });

  it('[LIST-05] are found by both filters, at every instant and beside it', async () => {
    for (const [place, time] of TIMES.entries()) {
      if (time === null) continue;
      expect([time, await idsOf(`${path}created_before=${time}`)]).toEqual([time, IDS.slice(place + 1, -1)]);
      expect([time, await idsOf(`${path}created_after=${time}`)]).toEqual([time, IDS.slice(0, place)]);
    }
    const all = IDS.slice(0, -1);
    expect(await idsOf(`${path}created_after=0000-01-01T00:00:00%2B23:59`)).toEqual(all);
    expect(await idsOf(`${path}created_before=9999-12-31T23:59:59.9991Z`)).toEqual(all);
    expect(await idsOf(`${path}created_before=9999-12-31T23:59:59-23:59`)).toEqual(all);
    expect(await walk(`${path}created_after=1899-12-31T23:59:59.999Z&created_before=2286-11-20T17:46:40Z&`)).toEqual(IDS.slice(3, 9));
  });

  it('[LIST-01] [LIST-05] of rows that an earlier release wrote are put right in the background', async () => {
    const [docs, cards] = [bubbles.database.collection<BubbleDoc>('bubbles'), bubbles.database.collection<CardDoc>('bubble_cards')];
    const clamp = async (place: number, digits: string) => {
      await docs.updateOne({ _id: idAt(place) }, { $set: { sk: `${digits}.${idAt(place)}` } });
      await cards.updateOne({ _id: idAt(place) }, { $set: { analyser: 1 }, $unset: { createdAt: '' } });
    };
    for (const place of [0, 1, 2]) await clamp(place, '9999999999999');
    for (const place of [4]) await clamp(place, String(Date.parse(TIMES[place] ?? '')));
    for (const place of [6, 7, 8, 9, 10]) await clamp(place, '0000000000001');
    await clamp(11, '0000000000000');
    await bubbles.service.jobs.find(({ name }) => name === 'analyse-cards-again')?.run();
    expect(await idsOf(path)).toEqual(IDS);
    expect(await walk(path)).toEqual(IDS);
  });
});
