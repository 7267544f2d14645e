/** What is known of the domains of addresses. A domain is in ASCII and lower case. */
export interface DomainLists {
  /** Why an address at this domain may not sign up; null when it may. */
  refusalOf(domain: string): 'disposable' | 'denied' | null;
  /** The registrable domain that belongs to one company, to whose workspaces its people belong; null for a public, consumer or disposable one. */
  companyDomain(domain: string): string | null;
}

/** Whether mail can be sent to a domain; `unknown` when the DNS did not answer in time. */
type MailServerResult = 'present' | 'absent' | 'unknown';

/** Asks the DNS. */
export interface MailServers {
  of(domain: string): Promise<MailServerResult>;
}

export interface AddressPorts {
  readonly domainLists: DomainLists;
  /** Null where mail servers are not looked up. */
  readonly mailServers: MailServers | null;
}
