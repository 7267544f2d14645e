import type { ServiceTokens } from '@bubbles/http/routes/internal-auth.ts';
import { Agent, request } from 'undici';
import type { Address } from '../upstream/address.ts';

export interface Fetched {
  readonly etag: string;
  /** Null when it is the fragment that is known. */
  readonly text: string | null;
}

export interface FragmentClient {
  /** Rejects when the service does not answer with a fragment. `known`: the ETag of the one that this address has shown before. */
  fetch(service: string, address: Address, known: string | null): Promise<Fetched>;
  close(): Promise<void>;
}

const PATH = '/internal/openapi.json';
const DEADLINE_MS = 2000;
const MAX_BYTES = 8 * 1024 * 1024;

export const fragmentClient = (tokens: ServiceTokens): FragmentClient => {
  const dispatcher = new Agent({ connections: 1, connect: { timeout: 1000 }, maxResponseSize: MAX_BYTES, allowH2: false });
  return {
    fetch: async (service, { origin }, known) => {
      const { statusCode, headers, body } = await request(`${origin}${PATH}`, {
        dispatcher,
        signal: AbortSignal.timeout(DEADLINE_MS),
        headers: { authorization: await tokens.authorizationFor(service), ...(known !== null && { 'if-none-match': known }) },
      });
      const text = await body.text();
      if (statusCode === 304 && known !== null) return { etag: known, text: null };
      const etag = headers['etag'];
      if (statusCode !== 200 || typeof etag !== 'string') throw new Error(`${service} answered ${statusCode} without a fragment.`);
      return { etag, text };
    },
    close: () => dispatcher.destroy(),
  };
};
