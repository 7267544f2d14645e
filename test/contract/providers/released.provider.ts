import { describe, expect, it } from '@jest/globals';
import { runningReleases } from '../../released/releases.ts';
import { verifyNewer } from '../released.ts';

describe('consumers of now', () => {
  it('read what providers of each release that may still run answer and publish', async () => {
    for (const release of runningReleases()) await expect(verifyNewer(release)).resolves.toBeUndefined();
  }, 60_000);
});
