import { describe, expect, it } from '@jest/globals';
import { runningReleases } from '../../released/releases.ts';
import { metAt, newerPactsThan, replay, withPactFiles } from '../released.ts';
import { runVerifier } from '../verify.ts';

/** Consumers of now beside providers of a release that may still run: by what those answered and published. */
const verifyNewer = async (release: number): Promise<void> => {
  const byProvider = Map.groupBy(newerPactsThan(release), ({ provider }) => provider.name);
  for (const [provider, pacts] of byProvider) {
    const { answers, messages, faults, pacts: asked } = metAt(release, provider, pacts);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    if (asked.length === 0) continue;
    const server = await replay(answers);
    const messageProviders = Object.fromEntries(Object.entries(messages).map(([type, message]) => [type, () => Promise.resolve(message)]));
    try {
      await withPactFiles(asked, (pactUrls) =>
        runVerifier({ provider, providerBaseUrl: server.url, stateHandlers: {}, messageProviders, pactUrls: [...pactUrls] }),
      ).catch((error: Error) => {
        const consumers = pacts.map(({ consumer }) => consumer.name).join(', ');
        throw new Error(`${consumers} of now cannot read ${provider} of release ${release}, which may still run:\n${error.message}`, {
          cause: error,
        });
      });
    } finally {
      await server.close();
    }
  }
};

describe('consumers of now', () => {
  it('read what providers of each release that may still run answer and publish', async () => {
    for (const release of runningReleases()) await expect(verifyNewer(release)).resolves.toBeUndefined();
  }, 60_000);
});
