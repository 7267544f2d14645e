import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Account } from '../domain/account.ts';
import { type ConnectedApp, connectedApps } from '../domain/connected-app.ts';
import type { Grant } from '../domain/grant.ts';
import type { GrantStore, Uses } from '../ports.ts';

const GRANTS_PER_PAGE = 100;

interface ConnectedAppPorts {
  readonly grants: GrantStore;
  readonly grantUses: Uses;
  readonly clock: Clock;
}
interface OwnApp {
  readonly owner: Account;
  readonly clientId: string;
}

export interface ConnectedAppsPage {
  readonly apps: readonly ConnectedApp[];
  /** The client after which the next page begins; null when there are no more. */
  readonly next: string | null;
}

/** Whole apps: one that the page cuts goes to the next page, unless there is no other. */
const wholeApps = (rows: readonly Grant[]): { readonly grants: readonly Grant[]; readonly next: string | null } => {
  const cut = rows[GRANTS_PER_PAGE]?.clientId;
  if (cut === undefined) return { grants: rows, next: null };
  const whole = rows.filter(({ clientId }) => clientId !== cut);
  return { grants: whole.length === 0 ? rows : whole, next: whole.at(-1)?.clientId ?? cut };
};

export const listConnectedApps =
  ({ grants, grantUses, clock }: ConnectedAppPorts) =>
  async ({ owner, after }: { owner: Account; after: string | null }): Promise<ConnectedAppsPage> => {
    const page = wholeApps(await grants.ofAccountByClient(owner.id, { after, limit: GRANTS_PER_PAGE + 1 }));
    const lastUsed = await grantUses.lastUsed(page.grants.map(({ id }) => id));
    return { apps: connectedApps(page.grants, { owner, now: clock.now(), lastUsed }), next: page.next };
  };

export const getConnectedApp =
  ({ grants, grantUses, clock }: ConnectedAppPorts) =>
  async ({ owner, clientId }: OwnApp): Promise<ConnectedApp> => {
    const found = await grants.ofAccountAtClient(owner.id, clientId, GRANTS_PER_PAGE);
    const lastUsed = await grantUses.lastUsed(found.map(({ id }) => id));
    const [app] = connectedApps(found, { owner, now: clock.now(), lastUsed });
    if (app === undefined) throw new DomainError('not_found', 'No such app.');
    return app;
  };

/** Every token of the app for this account is refused from its next request on. */
export const disconnectApp =
  ({ grants }: Pick<ConnectedAppPorts, 'grants'>) =>
  async ({ owner, clientId }: OwnApp): Promise<void> => {
    await grants.endOfAccountAtClient(owner.id, clientId);
  };
