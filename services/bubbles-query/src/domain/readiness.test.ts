import { describe, expect, it } from '@jest/globals';
import { aBubble, someDetails, someMedia, someNotes } from '../../test/states.ts';
import type { Bubble, Details } from './bubble.ts';
import { becomesReady } from './readiness.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const isReady = (facts: Partial<Bubble>) => becomesReady(aBubble(facts), NOW);
const details = someDetails;
const media = someMedia();
const transcript = { revision: 1 };
const notes = someNotes();

describe('a screen recording is ready', () => {
  const recording = details({ type: 'screen_recording' });
  it('[EVT-01] [EVT-02] processed and transcribed', () => {
    expect(isReady({ details: recording, media, transcript })).toBe(true);
    expect(isReady({ details: recording, media })).toBe(false);
    expect(isReady({ details: recording, transcript })).toBe(false);
  });
  it('[EVT-02] silent, at the processed signal', () => {
    expect(isReady({ details: recording, media: someMedia({ hasAudio: false }) })).toBe(true);
  });
});

describe('a meeting recording is ready', () => {
  it('[EVT-01] [EVT-02] processed, transcribed and with notes', () => {
    const whole = { details: details(), media, transcript, notes };
    expect(isReady(whole)).toBe(true);
    for (const missing of ['details', 'media', 'transcript', 'notes'])
      expect([missing, isReady({ ...whole, [missing]: null })]).toEqual([missing, false]);
  });
  it('[EVT-01] also when the notes say nothing', () => {
    expect(isReady({ details: details(), media, transcript, notes: someNotes({ summary: null, actionItems: null }) })).toBe(true);
  });
  it('[EVT-01] silent, with media and notes only', () => {
    expect(isReady({ details: details(), media: someMedia({ hasAudio: false }), notes })).toBe(true);
    expect(isReady({ details: details(), media: someMedia({ hasAudio: false }) })).toBe(false);
  });
});

describe('a custom image is ready', () => {
  it('[EVT-01] processed', () => {
    expect(isReady({ details: details({ type: 'custom_image' }), media })).toBe(true);
    expect(isReady({ details: details({ type: 'custom_image' }), notes, transcript })).toBe(false);
  });
});

describe('whatever its type', () => {
  const image = (fields: Partial<Details> = {}) => details({ type: 'custom_image', ...fields });

  it('[EVT-01] processed means reported and not denied', () => {
    expect(isReady({ details: image(), media: someMedia({ isProcessed: null }) })).toBe(true);
    expect(isReady({ details: image(), media: someMedia({ isProcessed: false }) })).toBe(false);
  });
  it('[EVT-01] never zero-media notes', () => {
    for (const type of ['meeting_recording', 'screen_recording', 'custom_image'] as const)
      expect(isReady({ details: details({ type, hasMedia: false }), media, transcript, notes })).toBe(false);
  });
  it.each([{ draft: true }, { template: true }, { archived: true }, { expiresAt: NOW }])(
    '[EVT-01] not while nobody may read it: %j',
    (fields) => {
      expect(isReady({ details: image(fields), media })).toBe(false);
    },
  );
  it('[EVT-01] before it expires', () => {
    expect(isReady({ details: image({ expiresAt: new Date(NOW.getTime() + 1) }), media })).toBe(true);
  });
  it('[EVT-01] once, and a removed one never', () => {
    expect(isReady({ details: image(), media, readyAt: NOW })).toBe(false);
    expect(isReady({ details: image(), media, removed: true })).toBe(false);
  });
});
