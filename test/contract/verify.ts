import { Verifier } from '@pact-foundation/pact';
import { pactsOf } from './pact-files.ts';
import { consumersOf } from './pairs.ts';

type VerifierOptions = ConstructorParameters<typeof Verifier>[0];

export interface Provider {
  readonly provider: string;
  readonly providerBaseUrl?: string;
  readonly stateHandlers: NonNullable<VerifierOptions['stateHandlers']>;
  readonly messageProviders?: NonNullable<VerifierOptions['messageProviders']>;
}

/** The verifier is content with no pact at all and with a state that nobody sets up: these are refused here. */
const provePacts = ({ provider, stateHandlers, messageProviders = {} }: Provider): readonly string[] => {
  const pacts = pactsOf(provider);
  const present = pacts.map(({ pact }) => pact.consumer.name).sort();
  const expected = [...consumersOf(provider)].sort();
  if (expected.length === 0 || JSON.stringify(present) !== JSON.stringify(expected))
    throw new Error(`${provider} has pacts with [${present.join(', ')}] and should have them with [${expected.join(', ')}]`);
  const interactions = pacts.flatMap(({ pact }) => pact.interactions);
  const states = interactions.flatMap(({ providerStates }) => providerStates.map(({ name }) => name));
  const unknown = states.filter((state) => !(state in stateHandlers));
  const unsent = interactions.filter(({ description, type }) => type === 'Asynchronous/Messages' && !(description in messageProviders));
  if (unknown.length > 0 || unsent.length > 0)
    throw new Error(
      `${provider} lacks states [${unknown.join(', ')}] and messages [${unsent.map(({ description }) => description).join(', ')}]`,
    );
  return pacts.map(({ path }) => path);
};

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
  const paths = provePacts(provider);
  try {
    await new Verifier({ ...provider, ...source(paths), logLevel: 'error' }).verifyProvider();
  } catch (error) {
    throw new Error(outputOf(error), { cause: error });
  }
};
