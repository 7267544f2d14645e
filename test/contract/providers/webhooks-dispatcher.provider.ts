import { aCaller } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startDispatcher, type TestDispatcher } from '../../../services/webhooks-dispatcher/test/dispatcher.ts';
import { verify } from '../verify.ts';

describe('webhooks-dispatcher', () => {
  let dispatcher: TestDispatcher;
  beforeAll(async () => {
    dispatcher = await startDispatcher();
  });
  afterAll(() => dispatcher.stop());

  const stateHandlers = {
    'what operators act on': async () => {
      const { id } = await dispatcher.subscribe({ url: 'https://127.0.0.1:40009/hooks' });
      return { subscription_id: id };
    },
    'a subscription whose receiver is away': async () => {
      const { id } = await dispatcher.subscribe({ url: 'https://127.0.0.1:40009/hooks' });
      await dispatcher.call('POST', `/${id}/test`);
      await dispatcher.settle();
      // As a page of identity, with no other right: so are the requests of the pact.
      const page = { ...aCaller({ kind: 'app', scopes: ['webhooks:manage'] }), userId: 'ada' };
      const { body } = await dispatcher.call('GET', `/${id}/deliveries`, undefined, page);
      return { id, delivery_id: body.data[0].id };
    },
  };

  it('keeps its pacts', async () => {
    await expect(verify({ provider: 'webhooks-dispatcher', providerBaseUrl: dispatcher.url, stateHandlers })).resolves.toBeUndefined();
  }, 60_000);
});
