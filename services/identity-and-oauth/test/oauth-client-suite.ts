import { describe, expect, it } from '@jest/globals';
import type { RegisteredClientStore } from '../src/ports.ts';
import { AT, aClient } from './builders.ts';

const after = (ms: number) => new Date(AT.getTime() + ms);

export const describeRegisteredClientStore = (engine: string, make: () => Promise<RegisteredClientStore>) =>
  describe(`RegisteredClientStore on ${engine}`, () => {
    it('gives back what was inserted, null for what was not, and what it was changed to', async () => {
      const clients = await make();
      const client = aClient();
      await clients.insert(client);
      expect(await clients.get('client-1')).toEqual(client);
      expect(await clients.get('nobody')).toBeNull();
      const { name, redirectUris, authMethod, scopes, clientUri } = aClient({ name: 'Other', authMethod: 'none', clientUri: null });
      const metadata = { name, redirectUris, authMethod, scopes, clientUri, secretHash: null };
      expect(await clients.change('client-1', metadata)).toBe(true);
      expect(await clients.get('client-1')).toEqual({ ...client, ...metadata });
      expect(await clients.change('nobody', metadata)).toBe(false);
      await clients.delete('client-1');
      await clients.delete('client-1');
      expect(await clients.get('client-1')).toBeNull();
    });

    it('an authorization counts while the client is there, and never moves its last use back', async () => {
      const clients = await make();
      await clients.insert(aClient());
      expect(await clients.noteAuthorized('client-1', after(2))).toBe(true);
      expect(await clients.noteAuthorized('client-1', after(1))).toBe(true);
      expect(await clients.get('client-1')).toMatchObject({ authorized: true, lastUsedAt: after(2) });
      expect(await clients.noteAuthorized('nobody', AT)).toBe(false);
    });

    it('deletes those that nobody authorized and that registered before, and no others', async () => {
      const clients = await make();
      await clients.insert(aClient({ id: 'old' }));
      await clients.insert(aClient({ id: 'new', lastUsedAt: after(1) }));
      await clients.insert(aClient({ id: 'authorized', authorized: true }));
      await clients.deleteNeverAuthorized(after(1));
      expect([await clients.get('old'), (await clients.get('new'))?.id, (await clients.get('authorized'))?.id]).toEqual([
        null,
        'new',
        'authorized',
      ]);
    });

    it('finds those that are long unused, the oldest first, and deletes one unless it was used meanwhile', async () => {
      const clients = await make();
      for (const [n, id] of ['a', 'b', 'c', 'd'].entries()) await clients.insert(aClient({ id, authorized: true, lastUsedAt: after(n) }));
      await clients.insert(aClient({ id: 'never' }));
      expect(await clients.unusedSince(after(3), 2)).toEqual(['a', 'b']);
      expect(await clients.unusedSince(after(3), 9)).toEqual(['a', 'b', 'c']);
      await clients.noteAuthorized('b', after(9));
      for (const id of ['a', 'b']) await clients.deleteUnusedSince(id, after(3));
      expect([await clients.get('a'), (await clients.get('b'))?.id]).toEqual([null, 'b']);
    });
  });
