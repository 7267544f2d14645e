import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Verifier } from '@pact-foundation/pact';
import { breachesIn } from './breaches.ts';

export type VerifierOptions = ConstructorParameters<typeof Verifier>[0];

/** Rejects with provider, consumer and field when pacts are broken. */
export const runVerifier = async (options: VerifierOptions): Promise<void> => {
  try {
    await new Verifier({ ...options, logLevel: 'error' }).verifyProvider();
  } catch (error) {
    throw new Error(breachesIn(Error.isError(error) ? error.message : String(error)).join('\n'), { cause: error });
  }
};

/** Written for the verifier, and gone when the work is done. */
export const withPactFiles = async <T>(pacts: readonly object[], work: (paths: string[]) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'pacts-'));
  try {
    const paths = pacts.map((_, index) => join(folder, `${index}.json`));
    for (const [index, path] of paths.entries()) writeFileSync(path, JSON.stringify(pacts[index]));
    return await work(paths);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

interface Broker {
  readonly url: string;
  /** Of the provider: whose results are published; absent where none is. */
  readonly version: string | undefined;
}

/** A broker that is asked for the pacts of the consumers that are deployed or released, and is told the results. */
export const brokerOptions = ({ url, version }: Broker): VerifierOptions => {
  if (version === undefined) throw new Error('GIT_COMMIT must name the version whose results are published');
  return {
    pactBrokerUrl: url,
    consumerVersionSelectors: [{ mainBranch: true }, { deployedOrReleased: true }],
    publishVerificationResult: true,
    providerVersion: version,
  };
};
