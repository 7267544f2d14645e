import type { Infra } from '@bubbles/host/service.ts';
import { createAccessTokenSigner } from '@bubbles/identity-and-oauth/adapters/signing/access-tokens.ts';
import { createKeyRing, ES256 } from '@bubbles/identity-and-oauth/adapters/signing/key-ring.ts';
import { openStores } from '@bubbles/identity-and-oauth/adapters/store/stores.ts';
import { type Account, newAccount } from '@bubbles/identity-and-oauth/domain/account.ts';
import { newGrant } from '@bubbles/identity-and-oauth/domain/grant.ts';
import { issueKey, TOKEN_BYTES } from '@bubbles/identity-and-oauth/domain/token.ts';
import { identityAndOauthWith } from '@bubbles/identity-and-oauth/service.ts';
import { createSeal, type SealKey } from '@bubbles/kernel/seal.ts';
import { testConfig } from '@bubbles/testing/service-under-test.ts';
import { TEAM_ID } from '../harness/credentials.ts';
import { settings } from '../harness/in-child.ts';
import { serveService } from './serve-service.ts';

export interface IdentitySettings {
  readonly accounts: number;
  readonly keysEach: number;
  /** Of each account; each with as many access tokens as `accessTokensEach`. */
  readonly grantsEach?: number;
  readonly accessTokensEach?: number;
}

/** One of the accounts, with tokens that work. */
export interface SeededAccount {
  readonly id: string;
  readonly tokens: readonly string[];
  /** Of each of its grants. */
  readonly accessTokens: readonly (readonly string[])[];
}

const MEMBERSHIP = { teamId: TEAM_ID, role: 'member', hidden: false } as const;
const TEAM = { id: TEAM_ID, name: 'Team', plan: 'pro', archived: false, domain: null, discoverable: false, channels: [] } as const;

/** Its mails end here. */
const mailed = new Map<string, PromiseWithResolvers<string>>();
const codeTo = (address: string): PromiseWithResolvers<string> => {
  const code = mailed.get(address) ?? Promise.withResolvers<string>();
  mailed.set(address, code);
  return code;
};
const mailTransport = () => ({
  deliver({ to, text }: { readonly to: string; readonly text: string }) {
    codeTo(to).resolve(/\b\d{6}\b/.exec(text)?.[0] ?? '');
    return Promise.resolve();
  },
  close: () => Promise.resolve(),
});
const identityAndOauth = identityAndOauthWith((config) => ({ ...config, mailTransport }));

export interface MailedCodeQuestion {
  /** Of the account with this number; it is forgotten when it is told. */
  readonly codeOf: number;
}

const addressOf = (user: number): string => `person${user}@acme.test`;

const mailedCode = async ({ codeOf }: MailedCodeQuestion): Promise<string> => {
  const code = await codeTo(addressOf(codeOf)).promise;
  mailed.delete(addressOf(codeOf));
  return code;
};

const DAY_MS = 86_400_000;
const CLIENT = { id: 'client-1', name: 'Bench' };

/** Grants of an account, and access tokens of each. */
const granter = ({ clock, ids }: Infra, { accessTokenKeys, grants }: ReturnType<typeof openStores>) => {
  const { values, publicBaseUrl } = testConfig(identityAndOauth);
  const { grantsEach = 0, accessTokensEach = 1 } = settings<IdentitySettings>();
  // The definition reads them from its variables.
  const seal = createSeal(values['SEAL_KEYS'] as readonly SealKey[], ids.bytes);
  const ring = createKeyRing({ keys: accessTokenKeys, algorithm: ES256, keepAfterMs: DAY_MS, seal, clock, ids });
  const signer = createAccessTokenSigner({ ring, issuer: publicBaseUrl, ids });
  return (owner: Account): Promise<(readonly string[])[]> =>
    Promise.all(
      Array.from({ length: grantsEach }, async () => {
        const at = clock.now();
        const expiresAt = new Date(at.getTime() + DAY_MS);
        const scopes = ['bubbles:read'];
        const grant = newGrant({ owner, client: CLIENT, scopes }, { id: ids.uuid(), at, expiresAt });
        await grants.insert(grant);
        return Promise.all(Array.from({ length: accessTokensEach }, () => signer.sign({ grant, scopes, at, expiresAt })));
      }),
    );
};

const seed = async (infra: Infra): Promise<readonly SeededAccount[]> => {
  const { accounts, keysEach } = settings<IdentitySettings>();
  const stores = openStores({ ...infra, source: identityAndOauth.name, onCommit: () => undefined });
  await stores.ensureIndexes();
  await stores.teams.insert({ ...TEAM, createdAt: infra.clock.now() });
  const grantTo = granter(infra, stores);
  const seeded: SeededAccount[] = [];
  for (let n = 0; n < accounts; n += 1) {
    const at = infra.clock.now();
    const keys = Array.from({ length: keysEach }, (_, k) =>
      issueKey(`key ${k}`, { id: infra.ids.uuid(), random: infra.ids.bytes(TOKEN_BYTES), at }),
    );
    const profile = { name: `Person ${n}`, email: addressOf(n), pictureUrl: null };
    const account = {
      ...newAccount({ id: `user-${n}`, profile, keys: keys.map(({ key }) => key), createdAt: at }),
      memberships: [MEMBERSHIP],
    };
    await stores.accounts.insert({ state: account, events: [] });
    seeded.push({ id: account.id, tokens: keys.map(({ token }) => token), accessTokens: await grantTo(account) });
  }
  return seeded;
};

await serveService({ definition: identityAndOauth, seed, answer: mailedCode });
