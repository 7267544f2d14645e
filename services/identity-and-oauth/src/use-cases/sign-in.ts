import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { foldAddress, mailboxOf } from '@bubbles/mail/address.ts';
import type { Account } from '../domain/account.ts';
import { CLIENT_WINDOW_MS, MAILBOX_LIMITS, type SignIn, signInTimes } from '../domain/sign-in.ts';
import { hashToken, type IssuedSession, issueSession, TOKEN_BYTES } from '../domain/token.ts';
import type { SessionStore } from '../ports.ts';
import type { MailCode, MailedCodes, SignInStore, Throttle } from '../sign-in-ports.ts';
import { type AccountWriterPorts, openAccountAt } from './accounts.ts';
import { accountAt } from './addresses.ts';

interface BeginPorts {
  readonly signIns: SignInStore;
  readonly mailedCodes: MailedCodes;
  readonly mailCode: MailCode;
  readonly throttle: Throttle;
  readonly codesPerClient: number;
}

interface SignInToBegin {
  readonly address: string;
  readonly returnTo: string;
  /** The secret in the cookie of the browser. */
  readonly browserSecret: string;
  /** What counts as one client of the network. */
  readonly client: string;
  /** What counts as one customer of a provider. */
  readonly site: string;
}

/**
 * Mails a code to the address, whether an account has it or not; no account is looked at, so that nobody learns who has one. Null when the text is not an
 * address.
 */
export const beginSignIn =
  ({ signIns, mailedCodes, mailCode, clock, ids, ...limits }: BeginPorts & Pick<AccountWriterPorts, 'clock'> & { ids: Ids }) =>
  async ({ address: text, returnTo, browserSecret, client, site }: SignInToBegin): Promise<string | null> => {
    const address = foldAddress(text);
    if (address === null) return null;
    await takeFromLimits(limits, { address, client, site });
    const { codeUntil, signInUntil } = signInTimes(clock.now());
    const id = ids.uuid();
    const browserHash = hashToken(browserSecret);
    await signIns.insert({ id, browserHash, address, returnTo, newAccountId: ids.uuid(), expiresAt: signInUntil, isProven: false });
    const code = await mailedCodes.issue({ flowId: id, secret: browserSecret, expiresAt: codeUntil });
    await mailCode({ signInId: id, to: address, code, until: codeUntil });
    return id;
  };

const takeFromLimits = async (
  { throttle, codesPerClient }: Pick<BeginPorts, 'throttle' | 'codesPerClient'>,
  { address, client, site }: Pick<SignInToBegin, 'address' | 'client' | 'site'>,
): Promise<void> => {
  const ofClient = await throttle.take(`sign-in from ${client}`, { limit: codesPerClient, windowMs: CLIENT_WINDOW_MS });
  // Many addresses may lead to one mailbox.
  const taken = ofClient.allowed
    ? await throttle.takeForMailbox({ mailbox: `sign-in of ${mailboxOf(address)}`, client, site }, MAILBOX_LIMITS)
    : ofClient;
  if (!taken.allowed)
    throw new DomainError('rate_limited', 'Too many codes were asked for. Wait a while, then try again.', {
      retryAfterSeconds: taken.retryAfterSeconds,
    });
};

/** Which sign-in, and the secret in the cookie of the browser that asks. */
interface OwnSignIn {
  readonly id: string;
  readonly browserSecret: string;
}

interface SignInPorts extends AccountWriterPorts {
  readonly signIns: SignInStore;
  readonly mailedCodes: MailedCodes;
  readonly sessions: SessionStore;
  readonly ids: Ids;
}

type ReadPorts = Pick<SignInPorts, 'signIns' | 'clock'>;

type ReadSignIn = { readonly outcome: 'open'; readonly signIn: SignIn } | { readonly outcome: 'over'; readonly returnTo: string | null };

/** `over` for another browser than the one that began it too, which does not learn where the sign-in leads. */
export const readSignIn =
  ({ signIns, clock }: ReadPorts) =>
  async ({ id, browserSecret }: OwnSignIn): Promise<ReadSignIn> => {
    const signIn = await signIns.get(id);
    if (signIn?.browserHash !== hashToken(browserSecret)) return { outcome: 'over', returnTo: null };
    return signIn.expiresAt > clock.now() ? { outcome: 'open', signIn } : { outcome: 'over', returnTo: signIn.returnTo };
  };

const ownSignIn = async (ports: ReadPorts, own: OwnSignIn): Promise<SignIn | null> => {
  const read = await readSignIn(ports)(own);
  return read.outcome === 'open' ? read.signIn : null;
};

/** `wrong`: the code or the name; `over`: the code or the whole sign-in; `closed`: the account; `new`: no account has the address yet. */
export type SignInStep =
  | { readonly outcome: 'wrong'; readonly signIn: SignIn }
  | { readonly outcome: 'over' }
  | { readonly outcome: 'closed' }
  | { readonly outcome: 'new'; readonly signIn: SignIn }
  | { readonly outcome: 'signed in'; readonly signIn: SignIn; readonly session: IssuedSession };

interface CodeToCheck extends OwnSignIn {
  readonly code: string;
  /** Token of the browser's former session, which ends. */
  readonly formerToken: string | null;
}

export const checkSignInCode =
  (ports: SignInPorts) =>
  async ({ code, formerToken, ...own }: CodeToCheck): Promise<SignInStep> => {
    const signIn = await ownSignIn(ports, own);
    if (signIn === null) return { outcome: 'over' };
    if (!signIn.isProven) {
      const whenRight = () => ports.signIns.prove(signIn.id);
      const checked = await ports.mailedCodes.check({ flowId: own.id, secret: own.browserSecret, code, whenRight });
      if (checked === 'wrong') return { outcome: 'wrong', signIn };
      // The same form sent twice: the first one has used the code.
      if (checked === 'over' && !(await ownSignIn(ports, own))?.isProven) return { outcome: 'over' };
    }
    return enter(ports, { signIn, account: await accountAt(ports, signIn.address), formerToken });
  };

interface NamedSignIn extends OwnSignIn {
  /** Null when what was sent is not a name. */
  readonly name: string | null;
  readonly formerToken: string | null;
}

/** Opens an account at the proven address, in no workspace yet. Asked again it finds the account that it made. */
export const openAccount =
  (ports: SignInPorts) =>
  async ({ name, formerToken, ...own }: NamedSignIn): Promise<SignInStep> => {
    const signIn = await ownSignIn(ports, own);
    if (!signIn?.isProven) return { outcome: 'over' };
    if (name === null) return { outcome: 'wrong', signIn };
    const account = (await accountAt(ports, signIn.address)) ?? (await openedAt(ports, signIn, name));
    return enter(ports, { signIn, account, formerToken });
  };

const openedAt = async (ports: SignInPorts, { newAccountId: accountId, address }: SignIn, name: string): Promise<Account> => {
  try {
    return await openAccountAt(ports, { address, accountId, name, memberships: [] });
  } catch (error) {
    if (!isDomainError(error) || error.kind !== 'limit_reached') throw error;
    throw new DomainError('limit_reached', 'An account with this address is being opened. Wait a minute, then sign in again.', {
      cause: error,
    });
  }
};

interface Entering {
  readonly signIn: SignIn;
  readonly account: Account | null;
  readonly formerToken: string | null;
}

/** A new token at each sign-in, so that nobody can have chosen or seen it before. */
const enter = async (ports: SignInPorts, { signIn, account, formerToken }: Entering): Promise<SignInStep> => {
  const { signIns, sessions, clock, ids } = ports;
  if (account === null) return { outcome: 'new', signIn };
  const at = clock.now();
  await signIns.endAt(signIn.id, signInTimes(at).repeatUntil);
  if (account.state !== 'active') return { outcome: 'closed' };
  const session = issueSession(account, { id: ids.uuid(), random: ids.bytes(TOKEN_BYTES), at });
  await sessions.insert(session.session);
  if (formerToken !== null) await sessions.endByHash(hashToken(formerToken), at);
  return { outcome: 'signed in', signIn, session };
};

export const sweepSignIns =
  ({ signIns, clock }: Pick<SignInPorts, 'signIns' | 'clock'>) =>
  (): Promise<void> =>
    signIns.forgetExpired(clock.now());
