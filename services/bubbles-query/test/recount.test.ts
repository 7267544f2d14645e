import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import type { CommentStore } from '../src/ports.ts';
import { recordComment, recordThread } from '../src/use-cases/comments.ts';
import { AT, BUBBLE } from './builders.ts';
import { aComment, aThread } from './states.ts';

describe('the count of comments', () => {
  it('[COM-03] one that was counted before a later change is not stored over the count after it', async () => {
    const { bubbles, comments, ensureIndexes } = openStores({
      database: memoryDatabase(),
      clock: fakeClock(AT),
      ids: fakeIds(),
      source: 'test',
      onCommit: () => undefined,
    });
    await ensureIndexes();
    await recordThread({ bubbles, comments })(aThread());
    /** While the first comment has been counted, a second one comes and is counted. */
    const overtaken: CommentStore = {
      ...comments,
      async count(bubbleId) {
        const counted = await comments.count(bubbleId);
        await recordComment({ bubbles, comments })(aComment({ id: 'comment-2' }));
        return counted;
      },
    };
    await recordComment({ bubbles, comments: overtaken })(aComment());
    expect((await bubbles.get(BUBBLE))?.commentCount).toBe(2);
  });
});
