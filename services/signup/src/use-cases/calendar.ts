import { createHash } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { isUnavailable } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import type { AccountStateOf, CalendarGrantStore, CalendarLinks, CalendarProvider, LeasedGrant } from '../calendar-ports.ts';
import { type CalendarConsent, type CalendarProviderName, CONSENT_SECONDS, isAnswerTo, nextRevocation } from '../domain/calendar.ts';

export interface CalendarConnectionPorts {
  readonly calendarLinks: CalendarLinks;
  readonly calendarProviders: Readonly<Record<CalendarProviderName, CalendarProvider>>;
  readonly calendarGrants: CalendarGrantStore;
  readonly accountStateOf: AccountStateOf;
  readonly wakeGrantChecks: () => void;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

const SECRET_BYTES = 32;
const CONSENT = 'calendar consent';

type OpenedLink =
  | { readonly outcome: 'over' | 'connected' | 'not configured' }
  /** URL for the user of the address; the browser keeps the sealed consent until it returns. */
  | { readonly outcome: 'consent'; readonly address: string; readonly consentUrl: string; readonly sealedConsent: string };

/** Prepares a consent in the browser that opened the link. Nothing is stored, since whatever previews links opens them too. */
export const openCalendarLink =
  ({ calendarLinks, calendarProviders, calendarGrants, seal, clock, ids }: CalendarConnectionPorts) =>
  async (name: CalendarProviderName, token: string): Promise<OpenedLink> => {
    const flow = calendarLinks.flowOf(name, token);
    if (flow === null) return { outcome: 'over' };
    const { flowId, userId, address } = flow;
    const provider = calendarProviders[name];
    if (!provider.isConfigured) return { outcome: 'not configured' };
    if (await calendarGrants.isConnected(flowId, name)) return { outcome: 'connected' };
    const [state, verifier] = [ids.bytes(SECRET_BYTES).toString('base64url'), ids.bytes(SECRET_BYTES).toString('base64url')];
    const consent: CalendarConsent = {
      flowId,
      userId,
      provider: name,
      state,
      verifier,
      untilMs: clock.now().getTime() + CONSENT_SECONDS * 1000,
    };
    const sealedConsent = seal.seal(Buffer.from(JSON.stringify(consent)), CONSENT);
    return { outcome: 'consent', address, consentUrl: provider.consentUrl({ state, verifier }), sealedConsent };
  };

/** What the browser came back with; what it did not bring is empty. */
interface ConsentAnswer {
  readonly sealedConsent: string;
  readonly state: string;
  readonly code: string;
  /** RFC 6749, 4.1.2.1. */
  readonly error: string;
}

/** `strange`: this browser was sent away for no such consent. */
type ConsentOutcome = 'connected' | 'denied' | 'failed' | 'incomplete' | 'refused' | 'strange';

/** Stores what the user has consented to. */
export const finishCalendarConsent =
  ({ calendarProviders, calendarGrants, seal, clock, wakeGrantChecks }: CalendarConnectionPorts) =>
  async (name: CalendarProviderName, { sealedConsent, state, code, error }: ConsentAnswer): Promise<ConsentOutcome> => {
    const consent = openConsent(seal, sealedConsent);
    if (consent === null || !isAnswerTo(consent, { provider: name, state, now: clock.now() })) return 'strange';
    if (error === 'access_denied') return 'denied';
    if (error !== '' || code === '') return 'failed';
    const tokens = await calendarProviders[name].exchange(code, consent.verifier);
    if (tokens === 'refused' || tokens === 'incomplete') return tokens;
    const { flowId, userId } = consent;
    const id = createHash('sha256')
      .update(JSON.stringify([userId, name, tokens.subject]))
      .digest('hex');
    const sealedToken = seal.seal(Buffer.from(tokens.refreshToken), id);
    await calendarGrants.put({ id, flowId, userId, provider: name, sealedToken, connectedAt: clock.now(), life: null, tries: 0 });
    wakeGrantChecks();
    return 'connected';
  };

const openConsent = (seal: Seal, sealed: string): CalendarConsent | null => {
  try {
    // Only `openCalendarLink` seals under this name.
    return JSON.parse(seal.unseal(sealed, CONSENT).toString()) as CalendarConsent;
  } catch {
    // A cookie is whatever the browser sends.
    return null;
  }
};

/** After an account has changed. Whether it may keep its grants is asked live, so that the news may come late and twice. */
export const checkGrantsOf =
  ({ calendarGrants, wakeGrantChecks }: CalendarConnectionPorts) =>
  async (userId: string): Promise<void> => {
    await calendarGrants.checkAllOf(userId);
    wakeGrantChecks();
  };

/** Keeps the grant of an open account; revokes and erases that of a closed one, or of an earlier life of it. */
export const checkGrant = (ports: CalendarConnectionPorts) => {
  const { calendarGrants, calendarProviders, accountStateOf, seal, clock, log } = ports;
  const revoke = async (leased: LeasedGrant): Promise<void> => {
    const { id, provider, sealedToken, tries } = leased.grant;
    try {
      await calendarProviders[provider].revoke(seal.unseal(sealedToken, id).toString());
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const next = nextRevocation(leased.grant, clock.now());
      if (next !== null) {
        log.warn('calendar grant not revoked, trying again', { provider, tries: tries + 1, error });
        return await calendarGrants.postpone(leased, next);
      }
      log.error('calendar grant erased without revocation', { provider, error });
    }
    await calendarGrants.erase(leased);
  };
  return async (leased: LeasedGrant): Promise<void> => {
    const { userId, life } = leased.grant;
    const account = await accountStateOf(userId);
    if (account.isActive && (life === null || life === account.life)) await calendarGrants.settle(leased, account.life);
    else await revoke(leased);
  };
};
