import { type Destinations, policyOf } from '@bubbles/address-guard/destination-url.ts';
import { createResolver } from '@bubbles/address-guard/resolver.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { isDocumentUrl } from '../../domain/client-document.ts';
import type { OAuthClients, RegisteredClientStore } from '../../ports.ts';
import { createClientDocuments } from './client-documents.ts';
import { createDocumentFetcher } from './fetch-document.ts';

interface ClientsOptions {
  readonly registered: Pick<RegisteredClientStore, 'get' | 'noteAuthorized'>;
  /** From where metadata documents may be fetched; null: a URL is the id of no client. */
  readonly documents: Destinations | null;
  readonly clock: Clock;
  readonly log: Log;
}

interface ClosableClients extends OAuthClients {
  close(): Promise<void>;
}

/** Clients that registered themselves, and those whose id is the URL of their metadata document. */
export const openClients = ({ registered, documents, clock, log }: ClientsOptions): ClosableClients => {
  if (documents === null) return { ...registered, proofOf: registered.get, close: () => Promise.resolve() };
  const policy = policyOf(documents);
  const { fetch, close } = createDocumentFetcher({ policy, resolver: createResolver(documents), extraCa: documents.extraCa });
  const described = createClientDocuments({ fetch, policy, clock, log });
  return {
    get: (id, asker) => (isDocumentUrl(id) ? described(id, asker) : registered.get(id)),
    proofOf: (id) => (isDocumentUrl(id) ? Promise.resolve({ id, secretHash: null }) : registered.get(id)),
    noteAuthorized: (id, at) => (isDocumentUrl(id) ? Promise.resolve(true) : registered.noteAuthorized(id, at)),
    close,
  };
};
