import type { Infra } from '@bubbles/host/service.ts';
import { openStores } from '@bubbles/identity-and-oauth/adapters/store/stores.ts';
import { newAccount } from '@bubbles/identity-and-oauth/domain/account.ts';
import { issueKey, TOKEN_BYTES } from '@bubbles/identity-and-oauth/domain/token.ts';
import { identityAndOauth } from '@bubbles/identity-and-oauth/service.ts';
import { settings } from '../harness/in-child.ts';
import { serveService } from './serve-service.ts';

export interface IdentitySettings {
  readonly accounts: number;
  readonly keysEach: number;
}

/** One of the accounts, with tokens that work. */
export interface SeededAccount {
  readonly id: string;
  readonly tokens: readonly string[];
}

const TEAM = { teamId: 'team-1', role: 'member', hidden: false } as const;

const seed = async (infra: Infra): Promise<readonly SeededAccount[]> => {
  const { accounts, keysEach } = settings<IdentitySettings>();
  const stores = openStores({ ...infra, source: identityAndOauth.name, onCommit: () => undefined });
  await stores.ensureIndexes();
  const seeded: SeededAccount[] = [];
  for (let n = 0; n < accounts; n += 1) {
    const at = infra.clock.now();
    const keys = Array.from({ length: keysEach }, (_, k) =>
      issueKey(`key ${k}`, { id: infra.ids.uuid(), random: infra.ids.bytes(TOKEN_BYTES), at }),
    );
    const profile = { name: `Person ${n}`, email: `person${n}@acme.test`, pictureUrl: null };
    const account = { ...newAccount({ id: `user-${n}`, profile, keys: keys.map(({ key }) => key), createdAt: at }), memberships: [TEAM] };
    await stores.accounts.insert({ state: account, events: [] });
    seeded.push({ id: account.id, tokens: keys.map(({ token }) => token) });
  }
  return seeded;
};

await serveService({ definition: identityAndOauth, seed });
