import { appendFileSync, mkdirSync } from 'node:fs';
import { publishedBy } from '@bubbles/contracts/events/catalog.ts';
import { faultsOf, unknownOf } from './guards.ts';
import { BREACHES, type PactFile, pactsOf, REPORTS } from './pact-files.ts';
import { consumersOf } from './pairs.ts';
import { recorder } from './recording.ts';
import { olderPactsOf } from './released.ts';
import { brokerOptions, runVerifier, type VerifierOptions, withPactFiles } from './verifier.ts';

export interface Provider {
  readonly provider: string;
  /** Where it serves; absent when it only publishes. */
  readonly providerBaseUrl?: string;
  readonly stateHandlers: NonNullable<VerifierOptions['stateHandlers']>;
  /** By description: what the provider really publishes. */
  readonly messageProviders?: NonNullable<VerifierOptions['messageProviders']>;
}

const recordingMessages = (handlers: NonNullable<Provider['messageProviders']>, hear: (type: string, message: unknown) => void) =>
  Object.fromEntries(
    Object.entries(handlers).map(([type, send]): [string, typeof send] => [
      type,
      async (metadata) => {
        const message = await send(metadata);
        hear(type, message);
        return message;
      },
    ]),
  );

/** Holds it to the pacts of now, and writes down what it answers. */
const recorded = async (provider: Provider, pacts: readonly PactFile[]): Promise<void> => {
  const record = await recorder(provider.provider, provider.providerBaseUrl, pacts);
  const told = recordingMessages(provider.messageProviders ?? {}, record.hear);
  await withPactFiles(record.pacts, (pactUrls) =>
    runVerifier({ ...provider, messageProviders: told, providerBaseUrl: record.url, pactUrls }),
  );
  await record.keep();
};

/** Consumers of a release that may still run beside this provider. */
const verifyOlder = async (provider: Provider): Promise<void> => {
  for (const { release, pact } of olderPactsOf(provider.provider)) {
    const named = `${provider.provider} of now breaks ${pact.consumer.name} of release ${release}, which may still run:`;
    const faults = statesAndMessages([pact], provider);
    if (faults.length > 0) throw new Error([named, ...faults].join('\n'));
    await withPactFiles([pact], (pactUrls) => runVerifier({ ...provider, pactUrls })).catch((error: Error) => {
      throw new Error(`${named}\n${error.message}`, { cause: error });
    });
  }
};

const statesAndMessages = (pacts: readonly PactFile[], { stateHandlers, messageProviders = {} }: Provider): readonly string[] =>
  unknownOf(pacts, { states: Object.keys(stateHandlers), messages: Object.keys(messageProviders) });

/** Rejects when the provider breaks a pact, of today or of a release that may still run, and writes provider, consumer and field to a file. */
export const verify = async (provider: Provider): Promise<void> => {
  try {
    await hold(provider);
  } catch (error) {
    mkdirSync(REPORTS, { recursive: true });
    appendFileSync(BREACHES, `${Error.isError(error) ? error.message : String(error)}\n`);
    throw error;
  }
};

const hold = async (provider: Provider): Promise<void> => {
  const kept = pactsOf(provider.provider);
  const pacts = kept.map(({ pact }) => pact);
  const faults = faultsOf(pacts, {
    provider: provider.provider,
    expectedConsumers: consumersOf(provider.provider),
    states: Object.keys(provider.stateHandlers),
    messages: Object.keys(provider.messageProviders ?? {}),
    consumed: publishedBy(provider.provider).flatMap(({ type, consumers }) => consumers.map((consumer) => ({ consumer, type }))),
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  if (process.env['RECORD_ANSWERS'] === '1') return recorded(provider, pacts);
  const url = process.env['PACT_BROKER_BASE_URL'];
  if (url !== undefined) return runVerifier({ ...provider, ...brokerOptions({ url, version: process.env['GIT_COMMIT'] }) });
  await runVerifier({ ...provider, pactUrls: kept.map(({ path }) => path) });
  await verifyOlder(provider);
};
