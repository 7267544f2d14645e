import { describe, expect, it } from '@jest/globals';
import type { ConsentAnswer } from '../src/domain/authorization.ts';
import type { AuthorizationRequestStore } from '../src/ports.ts';
import { AT, anAuthorizationRequest } from './builders.ts';

const after = (ms: number) => new Date(AT.getTime() + ms);
const anAnswer = (accountId: string): ConsentAnswer => ({ accountId, scopes: ['bubbles:read'], at: AT });

export const describeAuthorizationRequestStore = (engine: string, make: () => Promise<AuthorizationRequestStore>) =>
  describe(`AuthorizationRequestStore on ${engine}`, () => {
    it('gives back what was inserted, also when it has expired, and null for what was not', async () => {
      const requests = await make();
      const request = anAuthorizationRequest({ state: null, expiresAt: after(-1) });
      await requests.insert(request);
      expect(await requests.get(request.hash)).toEqual(request);
      expect(await requests.get('nobody')).toBeNull();
    });

    it('[case 44] [case 99] of answers that race the first one stays, and all are told it', async () => {
      const requests = await make();
      const request = anAuthorizationRequest();
      await requests.insert(request);
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => requests.answer(request.hash, anAnswer(`user-${n}`))));
      expect(new Set(answers.map((answer) => answer?.accountId)).size).toBe(1);
      expect(await requests.answer(request.hash, anAnswer('late'))).toEqual(answers[0]);
      expect((await requests.get(request.hash))?.answer).toEqual(answers[0]);
      expect(await requests.answer('nobody', anAnswer('user-1'))).toBeNull();
    });

    it('forgets what has expired, and nothing else', async () => {
      const requests = await make();
      await requests.insert(anAuthorizationRequest({ hash: 'old', expiresAt: AT }));
      await requests.insert(anAuthorizationRequest({ hash: 'new', expiresAt: after(1) }));
      await requests.forgetExpired(AT);
      expect([await requests.get('old'), (await requests.get('new'))?.hash]).toEqual([null, 'new']);
    });
  });
