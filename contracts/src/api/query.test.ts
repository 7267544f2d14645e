import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ListBubblesQuery, PageQuery, SearchBubblesQuery, TranscriptQuery } from './query.ts';

const ASTRAL = '\u{1f980}';
const epoch = (text: string) => new Date(text).getTime();

describe('limit', () => {
  it.each([
    ['1', 1],
    ['25', 25],
    ['100', 100],
  ])('[LIST-04] %s is taken', (text, limit) => {
    expect(PageQuery.parse({ limit: text })).toEqual({ limit });
  });

  it('[LIST-04] is 25 when absent', () => {
    expect(PageQuery.parse({})).toEqual({ limit: 25 });
  });

  it.each(['0', '101', '-1', '+5', '1.5', '1e1', ' 25', '25 ', '0x10', '025', '', 'abc', '٢٥', '２５', '1000', '99999999999999999999'])(
    '[LIST-04] "%s" is refused',
    (limit) => {
      expect(PageQuery.safeParse({ limit }).success).toBe(false);
    },
  );

  it('[GEN-06] two of them are refused', () => {
    expect(PageQuery.safeParse({ limit: ['1', '2'] }).success).toBe(false);
  });
});

describe('created_after and created_before', () => {
  const after = (text: string) => ListBubblesQuery.parse({ created_after: text }).created_after;
  const before = (text: string) => ListBubblesQuery.parse({ created_before: text }).created_before;

  it.each([
    ['2024-02-29T00:00:00Z', epoch('2024-02-29T00:00:00.000Z')],
    ['2000-02-29T12:00:00Z', epoch('2000-02-29T12:00:00.000Z')],
    ['2026-01-01T00:00:00+02:00', epoch('2025-12-31T22:00:00.000Z')],
    ['2026-01-01T00:00:00-05:30', epoch('2026-01-01T05:30:00.000Z')],
    ['2026-01-01T00:00:00-00:00', epoch('2026-01-01T00:00:00.000Z')],
    ['2026-01-01T00:00:00.5Z', epoch('2026-01-01T00:00:00.500Z')],
    ['2026-01-01T00:00:00.120000Z', epoch('2026-01-01T00:00:00.120Z')],
    ['0000-01-01T00:00:00Z', epoch('0000-01-01T00:00:00.000Z')],
    ['0099-12-31T23:59:59Z', epoch('0099-12-31T23:59:59.000Z')],
    ['9999-12-31T23:59:59.999Z', epoch('9999-12-31T23:59:59.999Z')],
  ])('[LIST-05] %s is an instant', (text, ms) => {
    expect(after(text)).toBe(ms);
    expect(before(text)).toBe(ms);
  });

  it.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00Z',
    '2026-01-01',
    '2026-01-01 00:00:00Z',
    '2026-01-01t00:00:00Z',
    '2026-01-01T00:00:00z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00+25:00',
    '2026-01-01T00:00:00+02:60',
    '2026-01-01T00:00:00+0200',
    '2026-01-01T00:00:00 02:00',
    '1735689600',
    'now',
    '2026-W01-1',
    '+02026-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '',
  ])('[LIST-05] "%s" is refused', (text) => {
    expect(ListBubblesQuery.safeParse({ created_after: text }).success).toBe(false);
    expect(ListBubblesQuery.safeParse({ created_before: text }).success).toBe(false);
  });

  it('[LIST-05] an instant between two milliseconds excludes neither neighbour', () => {
    const ms = epoch('2026-01-01T00:00:00.123Z');
    expect(after('2026-01-01T00:00:00.1234Z')).toBe(ms);
    expect(before('2026-01-01T00:00:00.1234Z')).toBe(ms + 1);
    expect(after('1969-12-31T23:59:59.9999Z')).toBe(-1);
    expect(before('1969-12-31T23:59:59.9999Z')).toBe(0);
  });

  it('[LIST-05] an empty range is no error', () => {
    const range = { created_after: '2026-02-01T00:00:00Z', created_before: '2026-01-01T00:00:00Z' };
    expect(ListBubblesQuery.safeParse(range).success).toBe(true);
  });
});

describe('filters', () => {
  it.each(['meeting_recording', 'screen_recording', 'custom_image'])('[LIST-05] type %s is taken', (type) => {
    expect(ListBubblesQuery.parse({ type })).toMatchObject({ type });
  });

  it.each(['Meeting_recording', 'meeting', ''])('[LIST-05] type "%s" is refused', (type) => {
    expect(ListBubblesQuery.safeParse({ type }).success).toBe(false);
  });

  it.each(['team_id', 'space_id'])('[LIST-05] %s is any text but an empty one', (name) => {
    expect(ListBubblesQuery.safeParse({ [name]: 'no such id' }).success).toBe(true);
    expect(ListBubblesQuery.safeParse({ [name]: '' }).success).toBe(false);
  });

  it('[GEN-06] unknown parameters are ignored', () => {
    expect(ListBubblesQuery.parse({ colour: 'red' })).toEqual({ limit: 25 });
  });
});

describe('q', () => {
  it.each([
    ['one character', 'a'],
    ['256 characters', 'x'.repeat(256)],
    ['256 characters beyond the basic plane', ASTRAL.repeat(256)],
    ['marks only', '!!!'],
  ])('[SRCH-01] %s is taken', (_, q) => {
    expect(SearchBubblesQuery.parse({ q })).toMatchObject({ q });
  });

  it.each([
    ['257 characters', 'x'.repeat(257)],
    ['257 characters beyond the basic plane', ASTRAL.repeat(257)],
    ['257 characters of which trimming would leave one', `a${' '.repeat(256)}`],
    ['an empty one', ''],
    ['blanks only', ' \t\u3000'],
  ])('[SRCH-01] %s is refused', (_, q) => {
    expect(SearchBubblesQuery.safeParse({ q }).success).toBe(false);
  });

  it('[SRCH-01] is required', () => {
    expect(SearchBubblesQuery.safeParse({}).success).toBe(false);
  });
});

describe('format', () => {
  it('[TRN-01] is json unless text is asked for', () => {
    expect(TranscriptQuery.parse({})).toEqual({ format: 'json' });
    expect(TranscriptQuery.parse({ format: 'text' })).toEqual({ format: 'text' });
    expect(TranscriptQuery.safeParse({ format: 'JSON' }).success).toBe(false);
  });
});

describe('the document', () => {
  it('[API-01] says type, bounds and default of each parameter', () => {
    const { $defs, ...query } = z.toJSONSchema(SearchBubblesQuery, { io: 'input' });
    expect($defs?.['BubbleType']).toMatchObject({ type: 'string', enum: ['meeting_recording', 'screen_recording', 'custom_image'] });
    expect(query).toMatchObject({
      required: ['q'],
      properties: {
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
        cursor: { type: 'string', minLength: 1 },
        type: { $ref: '#/$defs/BubbleType' },
        created_after: { type: 'string', format: 'date-time' },
        created_before: { type: 'string', format: 'date-time' },
        q: { type: 'string', minLength: 1, maxLength: 256 },
      },
    });
    expect(z.toJSONSchema(TranscriptQuery, { io: 'input' })).toMatchObject({
      properties: { format: { $ref: expect.any(String), default: 'json' } },
      $defs: { TranscriptFormat: { enum: ['json', 'text'] } },
    });
  });
});
