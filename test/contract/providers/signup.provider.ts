import { signup } from '@bubbles/signup/service.ts';
import { startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verify } from '../verify.ts';

describe('signup', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(signup);
  });
  afterAll(() => service.stop());

  it('keeps its pacts', async () => {
    const verified = verify({
      provider: 'signup',
      providerBaseUrl: service.url,
      stateHandlers: { 'what operators act on': () => Promise.resolve() },
      messageProviders: {},
    });
    await expect(verified).resolves.toBeUndefined();
  }, 60_000);
});
