import { describe, expect, it } from '@jest/globals';
import { aReadyBubble, aSubscription } from '../../test/builders.ts';
import { covers, emptyToNull, eventsOf } from './subscription.ts';

describe('section 6, who a ready bubble concerns', () => {
  it('[EVT-01] [EVT-02] every bubble fires bubble.ready, recordings also the event of their type', () => {
    expect(eventsOf('meeting_recording')).toEqual(['bubble.ready', 'meeting_recording.ready']);
    expect(eventsOf('screen_recording')).toEqual(['bubble.ready', 'screen_recording.ready']);
    expect(eventsOf('custom_image')).toEqual(['bubble.ready']);
  });

  it('[EVT-03] team and space narrow', () => {
    expect(covers(aSubscription(), aReadyBubble())).toBe(true);
    expect(covers(aSubscription({ teamId: 'team', spaceId: 'channel' }), aReadyBubble())).toBe(true);
    expect(covers(aSubscription({ teamId: 'other' }), aReadyBubble())).toBe(false);
    expect(covers(aSubscription({ spaceId: 'other' }), aReadyBubble())).toBe(false);
    expect(covers(aSubscription({ teamId: 'team' }), aReadyBubble({ teamId: null }))).toBe(false);
  });

  it('[EVT-03] [HOOK-03] filters narrow by type and by author', () => {
    expect(covers(aSubscription({ filters: { bubbleTypes: ['custom_image'] } }), aReadyBubble())).toBe(false);
    expect(covers(aSubscription({ filters: { bubbleTypes: ['custom_image', 'meeting_recording'] } }), aReadyBubble())).toBe(true);
    expect(covers(aSubscription({ filters: { onlyMyBubbles: true } }), aReadyBubble({ authorId: 'somebody' }))).toBe(false);
    expect(covers(aSubscription({ filters: { onlyMyBubbles: true } }), aReadyBubble({ authorId: null }))).toBe(false);
    expect(covers(aSubscription({ filters: { onlyMyBubbles: true } }), aReadyBubble())).toBe(true);
    expect(covers(aSubscription({ filters: { onlyMyBubbles: false } }), aReadyBubble({ authorId: 'somebody' }))).toBe(true);
  });

  it('[HOOK-01] [HOOK-05] filters that say nothing are none', () => {
    expect(emptyToNull({})).toBeNull();
    expect(emptyToNull({ onlyMyBubbles: false })).toEqual({ onlyMyBubbles: false });
  });
});
