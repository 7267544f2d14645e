/** What is known of the domains of addresses. A domain is in ASCII and lower case. */
export interface DomainLists {
  /** Why an address at this domain may not sign up; null when it may. */
  refusalOf(domain: string): 'disposable' | 'denied' | null;
  /** The registrable domain that belongs to one company, to whose workspaces its people belong; null for a public, consumer or disposable one. */
  companyDomain(domain: string): string | null;
}

/** Asks the DNS whether mail can be sent to a domain. */
export interface MailServers {
  /** `unknown` when the DNS did not answer in time. */
  of(domain: string): Promise<'present' | 'absent' | 'unknown'>;
}
