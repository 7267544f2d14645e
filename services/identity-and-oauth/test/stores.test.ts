import { systemIds } from '@bubbles/shared/ids.ts';
import { fakeClock } from '@bubbles/shared/testing/fake-clock.ts';
import { openStores } from '../src/adapters/store/stores.ts';
import { AT } from './builders.ts';
import { fakeAssertionKeyStore } from './fakes.ts';
import { describeAssertionKeyStore, describeStores } from './store-suites.ts';
import { memoryDatabase } from './stores.ts';

const open = async () => {
  const stores = openStores({
    database: memoryDatabase(),
    clock: fakeClock(AT),
    ids: systemIds(),
    source: 'identity-and-oauth',
    onCommit: () => undefined,
  });
  await stores.ensureIndexes();
  return stores;
};

describeStores('the embedded store', open);
describeAssertionKeyStore('the embedded store', async () => (await open()).assertionKeys);
describeAssertionKeyStore('a fake', () => Promise.resolve(fakeAssertionKeyStore()));
