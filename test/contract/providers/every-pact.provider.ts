import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { currentDocuments } from '../../released/releases.ts';
import { everyPact, type PactFile } from '../pact-files.ts';
import { PAIRS } from '../pairs.ts';
import { reachedBy, requestFaults } from '../requests.ts';

const FRAGMENT_PATH = '/internal/openapi.json';

describe('the pacts', () => {
  it('are those of the listed pairs', () => {
    const written = everyPact().map(({ pact }) => [pact.consumer.name, pact.provider.name]);
    expect(written.sort()).toEqual([...PAIRS].sort());
  });

  it('each have a provider that is held to them', () => {
    const unheld = PAIRS.filter(([, provider]) => !existsSync(join(import.meta.dirname, `${provider}.provider.ts`)));
    expect(unheld).toEqual([]);
  });

  it('ask for what the documents of their providers accept', () => {
    const { services } = currentDocuments();
    const faultsOf = ({ request, response }: PactFile['interactions'][number], provider: string): readonly string[] => {
      // The gateway reads the documents themselves at a path that none of them describes.
      if (!request || request.path === FRAGMENT_PATH) return [];
      const reached = reachedBy(services[provider], request);
      if (reached === null) return ['is not described'];
      return Number(Object(response).status) < 400 ? requestFaults(reached, request) : [];
    };
    const faults = everyPact().flatMap(({ pact: { consumer, provider, interactions } }) =>
      interactions.flatMap((one) => faultsOf(one, provider.name).map((fault) => `${consumer.name}: ${one.request?.path} ${fault}`)),
    );
    expect(faults).toEqual([]);
  });
});
