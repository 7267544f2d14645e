import type { Ids } from '@bubbles/kernel/ids.ts';
import type { AddressPorts } from '../address-ports.ts';
import { CLIENT_WINDOW_MS, MAILBOX_LIMITS, newFlow, SESSION_BYTES } from '../domain/flow.ts';
import { REFUSALS } from '../domain/texts.ts';
import type { MailCode, MailedCodes, Throttle } from '../ports.ts';
import { admitAddress, requireMailServer } from './addresses.ts';
import type { FlowPorts } from './own-flow.ts';

export interface StartPorts extends FlowPorts, AddressPorts {
  readonly mailedCodes: MailedCodes;
  readonly mailCode: MailCode;
  readonly throttle: Throttle;
  readonly startsPerClient: number;
  readonly ids: Ids;
}

interface SignupToStart {
  readonly email: string;
  /** What counts as one client of the network. */
  readonly client: string;
}

/** Mails a code to the address and answers the signup session. No account is looked at, so that nobody learns who has one. */
export const startSignup = (ports: StartPorts) => {
  const { flows, mailedCodes, mailCode, clock, ids } = ports;
  return async ({ email, client }: SignupToStart): Promise<string> => {
    const admitted = admitAddress(ports, email);
    const { address, mailbox } = admitted;
    await takeFromLimits(ports, { mailbox, client });
    await requireMailServer(ports, admitted);
    const { flow, session, codeUntil } = newFlow({ id: ids.uuid(), random: ids.bytes(SESSION_BYTES), address, at: clock.now() });
    await flows.insert(flow);
    const code = await mailedCodes.issue({ flowId: flow.id, secret: session, expiresAt: codeUntil });
    await mailCode({ flowId: flow.id, to: address, code, until: codeUntil });
    return session;
  };
};

const takeFromLimits = async (
  { throttle, startsPerClient }: Pick<StartPorts, 'throttle' | 'startsPerClient'>,
  { mailbox, client }: Pick<SignupToStart, 'client'> & { readonly mailbox: string },
): Promise<void> => {
  const ofClient = await throttle.take(`signup from ${client}`, { limit: startsPerClient, windowMs: CLIENT_WINDOW_MS });
  const taken = ofClient.allowed ? await throttle.takeForMailbox({ mailbox: `signup of ${mailbox}`, client }, MAILBOX_LIMITS) : ofClient;
  if (!taken.allowed) throw REFUSALS.tooManyStarts(taken.retryAfterSeconds);
};

export const sweepFlows =
  ({ flows, clock }: FlowPorts) =>
  (): Promise<void> =>
    flows.forgetExpired(clock.now());
