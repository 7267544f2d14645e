import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { everyPact } from '../pact-files.ts';
import { PAIRS } from '../pairs.ts';

describe('the pacts', () => {
  it('are those of the listed pairs', () => {
    const written = everyPact().map(({ pact }) => [pact.consumer.name, pact.provider.name]);
    expect(written.sort()).toEqual([...PAIRS].sort());
  });

  it('each have a provider that is held to them', () => {
    const unheld = PAIRS.filter(([, provider]) => !existsSync(join(import.meta.dirname, `${provider}.provider.ts`)));
    expect(unheld).toEqual([]);
  });
});
