import { DomainError } from '@bubbles/kernel/errors.ts';
import type { AddressPorts } from '../address-ports.ts';
import { type EmailAddress, readEmailAddress } from '../domain/email-address.ts';

const REFUSALS = {
  disposable: 'email: addresses of temporary mail services cannot sign up. Use the address that you use at work.',
  denied: 'email: addresses at this domain cannot sign up here. Use another address.',
} as const;

const NO_MAIL_SERVER = 'email: the domain of this address has no mail server. Check the spelling, or use another address.';

/** The address of somebody who may sign up; throws `invalid` with the reason. No account is looked at. */
export const admitAddress = ({ domainLists }: Pick<AddressPorts, 'domainLists'>, text: string): EmailAddress => {
  const email = readEmailAddress(text);
  const refusal = domainLists.refusalOf(email.domain);
  if (refusal !== null) throw new DomainError('invalid', REFUSALS[refusal]);
  return email;
};

/** Uses DNS, so it must be called after the limits per client. */
export const requireMailServer = async (
  { mailServers }: Pick<AddressPorts, 'mailServers'>,
  { domain }: Pick<EmailAddress, 'domain'>,
): Promise<void> => {
  if ((await mailServers?.of(domain)) === 'absent') throw new DomainError('invalid', NO_MAIL_SERVER);
};
