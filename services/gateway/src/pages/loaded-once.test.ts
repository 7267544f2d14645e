import { expect, it } from '@jest/globals';
import { loadedOnce } from './loaded-once.ts';

it('[API-01] loads once for all who ask together, and again after it failed', async () => {
  const loads: PromiseWithResolvers<string>[] = [];
  const load = loadedOnce(() => {
    const loading = Promise.withResolvers<string>();
    loads.push(loading);
    return loading.promise;
  });
  const together = Promise.allSettled([load('/docs'), load('/docs')]);
  loads[0]?.reject(new Error('too many open files'));
  expect((await together).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const again = load('/docs');
  loads[1]?.resolve('page');
  expect([await again, await load('/docs'), loads.length]).toEqual(['page', 'page', 2]);
});
