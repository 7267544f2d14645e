import { promises as dns } from 'node:dns';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { Counter, type Registry } from 'prom-client';
import type { MailServers } from '../../address-ports.ts';

/** What is asked of the name servers. */
type NameServers = Pick<dns.Resolver, 'resolveMx' | 'resolve4' | 'resolve6'>;

const QUERY_MS = 700;
const TRIES = 2;
/** Time limit for all questions about one domain, which is also the longest wait of a signup. */
const TIME_LIMIT_MS = 2000;

/** The name servers say that there is nothing, not that they could not be asked. */
const NOTHING: readonly unknown[] = ['ENOTFOUND', 'ENODATA'];

const found = async <T>(asked: Promise<readonly T[]>): Promise<readonly T[]> => {
  try {
    return await asked;
  } catch (error) {
    if (NOTHING.includes(errorCode(error))) return [];
    throw error;
  }
};

/** RFC 5321, 5.1: without an MX record mail goes to the domain's own address. RFC 7505: one that is empty says that no mail is taken. */
const hasMailServer = async (servers: NameServers, domain: string): Promise<boolean> => {
  const exchanges = await found(servers.resolveMx(domain));
  if (exchanges.length > 0) return exchanges.some(({ exchange }) => exchange !== '' && exchange !== '.');
  const addresses = await Promise.all([found(servers.resolve4(domain)), found(servers.resolve6(domain))]);
  return addresses.flat().length > 0;
};

const systemServers = (): NameServers => new dns.Resolver({ timeout: QUERY_MS, tries: TRIES });

interface MailServersOptions {
  readonly log: Log;
  readonly registry: Registry;
  readonly servers?: NameServers;
  readonly timeLimitMs?: number;
}

export const createMailServers = ({ log, registry, servers, timeLimitMs = TIME_LIMIT_MS }: MailServersOptions): MailServers => {
  const lookups = new Counter({
    name: 'signup_mail_server_lookups_total',
    help: 'Look-ups of the mail server of an address that wants to sign up, by result; `unknown` ones let the address pass.',
    labelNames: ['result'],
    registers: [registry],
  });
  const resolver = servers ?? systemServers();
  const ask = async (domain: string) => {
    try {
      return (await withTimeout(timeLimitMs, () => hasMailServer(resolver, domain))) ? 'present' : 'absent';
    } catch (error) {
      // The domain is a part of somebody's address, and the error names it.
      log.warn('mail server look-up failed, address passes', { code: errorCode(error) ?? 'ETIMEOUT' });
      return 'unknown';
    }
  };
  return {
    async of(domain) {
      const result = await ask(domain);
      lookups.inc({ result });
      return result;
    },
  };
};
