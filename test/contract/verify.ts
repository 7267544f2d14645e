import { publishedBy } from '@bubbles/contracts/events/catalog.ts';
import { Verifier } from '@pact-foundation/pact';
import { faultsOf } from './guards.ts';
import { pactsOf } from './pact-files.ts';
import { consumersOf } from './pairs.ts';

type VerifierOptions = ConstructorParameters<typeof Verifier>[0];

export interface Provider {
  readonly provider: string;
  /** Where it serves; absent when it only publishes. */
  readonly providerBaseUrl?: string;
  readonly stateHandlers: NonNullable<VerifierOptions['stateHandlers']>;
  /** By description: what the provider really publishes. */
  readonly messageProviders?: NonNullable<VerifierOptions['messageProviders']>;
}

/** Where the pacts are: the files, or a broker that also gets the results. */
const source = (paths: readonly string[]) => {
  const brokerUrl = process.env['PACT_BROKER_BASE_URL'];
  if (brokerUrl === undefined) return { pactUrls: [...paths] };
  const version = process.env['GIT_COMMIT'];
  if (version === undefined) throw new Error('GIT_COMMIT must name the version whose results are published');
  return {
    pactBrokerUrl: brokerUrl,
    consumerVersionSelectors: [{ mainBranch: true }, { deployedOrReleased: true }],
    publishVerificationResult: true,
    providerVersion: version,
  };
};

const outputOf = (error: unknown): string => {
  const output: unknown = typeof error === 'object' && error !== null && 'output' in error ? error.output : null;
  return Array.isArray(output) ? output.join('\n') : String(error);
};

/** Rejects with the verifier's own words when the provider breaks a pact. */
export const verify = async (provider: Provider): Promise<void> => {
  const pacts = pactsOf(provider.provider);
  const faults = faultsOf(
    pacts.map(({ pact }) => pact),
    {
      provider: provider.provider,
      expectedConsumers: consumersOf(provider.provider),
      states: Object.keys(provider.stateHandlers),
      messages: Object.keys(provider.messageProviders ?? {}),
      consumed: publishedBy(provider.provider).flatMap(({ type, consumers }) => consumers.map((consumer) => ({ consumer, type }))),
    },
  );
  if (faults.length > 0) throw new Error(faults.join('\n'));
  try {
    await new Verifier({
      ...provider,
      ...source(pacts.map(({ path }) => path)),
      logLevel: 'error',
    }).verifyProvider();
  } catch (error) {
    throw new Error(outputOf(error), { cause: error });
  }
};
