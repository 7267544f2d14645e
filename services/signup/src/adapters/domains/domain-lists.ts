import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import type { DomainLists } from '../../address-ports.ts';
import { CONSUMER_BRANDS, MORE_CONSUMER_DOMAINS, NOT_DISPOSABLE } from './consumer-domains.ts';

/** Lists of this installation; each name stands for its subdomains too, and the longest name that fits decides. */
export interface OwnDomains {
  /** May sign up, whatever the lists say. */
  readonly allowed: ReadonlySet<string>;
  /** May not. */
  readonly denied: ReadonlySet<string>;
  /** Belong to one company, whatever the lists say. */
  readonly company: ReadonlySet<string>;
  /** Belong to no company. */
  readonly consumer: ReadonlySet<string>;
}

const DISPOSABLE = [
  'disposable-email-domains-js/dist/dict/disposable_email_blocklist.json',
  'disposable-email-domains/index.json',
  'disposable-email-domains/wildcard.json',
];
const CONSUMER = 'email-providers/all.json';

const require = createRequire(import.meta.url);

const Names = z.array(z.string());
const namesIn = (path: string): readonly string[] =>
  Names.parse(JSON.parse(readFileSync(require.resolve(path), 'utf8'))).map((name) =>
    /^[\x21-\x7e]*$/.test(name) ? name : domainToASCII(name),
  );

const load = () => ({
  disposable: new Set(DISPOSABLE.flatMap(namesIn)),
  consumer: new Set([...namesIn(CONSUMER), ...MORE_CONSUMER_DOMAINS]),
  // It is loaded here, with its list of public suffixes, so that a process that is asked for no address does not have it.
  suffixes: require('tldts') as typeof import('tldts'),
});

/** No name of a list has more parts. */
const MAX_PARTS = 10;

/** The domain and those above it, the longest first; of a domain with very many parts the last ones. */
const withParents = (domain: string): readonly string[] => {
  const names: string[] = [];
  for (let at = domain.length; at !== -1 && names.length < MAX_PARTS; ) {
    at = domain.lastIndexOf('.', at - 1);
    names.unshift(domain.slice(at + 1));
  }
  return names;
};

/** The lists of packages and those of this installation; the former are loaded with the first question. */
export const createDomainLists = (own: OwnDomains): DomainLists => {
  let loaded: ReturnType<typeof load> | null = null;
  const lists = () => {
    loaded ??= load();
    return loaded;
  };
  const exempt = new Set(NOT_DISPOSABLE);

  /** Whether a list has the domain, or one above it that somebody can register. */
  const isDisposable = (domain: string): boolean => {
    const { disposable, suffixes } = lists();
    const registrable = suffixes.getDomain(domain) ?? domain;
    for (const name of withParents(domain)) {
      if (exempt.has(name)) return false;
      if (disposable.has(name)) return true;
      if (name === registrable) return false;
    }
    return false;
  };
  const isConsumer = (domain: string, registrable: string): boolean => {
    const { consumer, suffixes } = lists();
    if (CONSUMER_BRANDS.has(suffixes.getDomainWithoutSuffix(domain) ?? '')) return true;
    return withParents(domain).some((name) => name.length >= registrable.length && consumer.has(name));
  };

  const refusalOf: DomainLists['refusalOf'] = (domain) => {
    for (const name of withParents(domain)) {
      if (own.denied.has(name)) return 'denied';
      if (own.allowed.has(name)) return null;
    }
    return isDisposable(domain) ? 'disposable' : null;
  };
  const isOwnCompany = (domain: string): boolean | null => {
    for (const name of withParents(domain)) {
      if (own.consumer.has(name) || own.denied.has(name)) return false;
      if (own.company.has(name)) return true;
    }
    return null;
  };

  return {
    refusalOf,
    companyDomain(domain) {
      const registrable = lists().suffixes.getDomain(domain, { allowPrivateDomains: true });
      if (registrable === null) return null;
      const isCompany = isOwnCompany(domain) ?? !(isDisposable(domain) || isConsumer(domain, registrable));
      return isCompany ? registrable : null;
    },
  };
};
