import { CreatedAccount } from '@bubbles/contracts/internal/identity.ts';
import { OPERATOR } from '@bubbles/contracts/services.ts';
import { capturedLog } from '@bubbles/testing/captured-log.ts';
import { asService } from '@bubbles/testing/http.ts';
import { startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PRODUCT } from '../../deploy/services/src/product.ts';
import { everyService } from '../support/services.ts';

const ADMIN = '/internal/v1/admin/';
const byOperators = everyService().flatMap(({ name, routes }) =>
  routes.filter(({ spec }) => spec.guard.callers?.join() === OPERATOR).map(({ spec }) => ({ service: name, ...spec })),
);
const acts = byOperators.map(({ service, method, path, operationId }) => ({ service, method, path, operationId }));

describe('every route for operators', () => {
  const running = new Map<string, TestService>();
  const log = capturedLog();
  beforeAll(async () => {
    for (const definition of PRODUCT.definitions) running.set(definition.name, await startTestService(definition, { log: log.log }));
  });
  afterAll(() => Promise.all([...running.values()].map(({ stop }) => stop())));

  it.each(acts)('$service $method $path leaves an audit line that says who did what', async ({ service, method, path, operationId }) => {
    const headers = { ...asService(OPERATOR), 'x-operator-name': 'ada', 'x-request-id': `audit-${operationId}` };
    const target = path.replaceAll(/\{\w+\}/g, 'some-id');
    const init =
      method === 'GET' ? { method, headers } : { method, headers: { ...headers, 'content-type': 'application/json' }, body: '{}' };
    const { status } = (await running.get(service)?.fetch(target, init)) ?? { status: 0 };
    const lines = log.lines().filter((line) => line['message'] === 'operator act' && line['request_id'] === `audit-${operationId}`);
    expect(lines).toEqual([
      expect.objectContaining({
        operation: operationId,
        caller: OPERATOR,
        operator: 'ada',
        outcome: status < 300 ? 'done' : status < 500 ? 'refused' : 'failed',
      }),
    ]);
    if (path.includes('{') && status === 404) expect(Object.values(lines[0]?.['named'] ?? {})).toContain('some-id');
  });

  it('stands below one prefix, where nothing else does', () => {
    const below = everyService().flatMap(({ routes }) =>
      routes.filter(({ spec }) => spec.path.startsWith(ADMIN)).map(({ spec }) => spec.operationId),
    );
    expect(acts.map(({ operationId }) => operationId).toSorted()).toEqual(below.toSorted());
  });
});

describe('an audit line', () => {
  const act = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
    const log = capturedLog();
    const [identity] = PRODUCT.definitions;
    if (identity === undefined) throw new Error('there is no identity');
    const service = await startTestService(identity, { log: log.log });
    const init = {
      method: 'POST',
      headers: { ...asService(OPERATOR), 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    const answered = CreatedAccount.safeParse(await (await service.fetch(`${ADMIN}${path}`, init)).json()).data;
    await service.stop();
    return { answered, text: log.text(), line: log.lines().find(({ message }) => message === 'operator act') };
  };
  const ada = { name: 'Ada Lovelace', email: 'ada@acme.test', picture_url: null, key_name: 'laptop' };

  it('[GEN-10] names what was made and which fields were given, and neither people nor secrets', async () => {
    const { answered, text, line } = await act('accounts', ada, { 'x-operator-name': 'ben' });
    const [account, session, key] = [answered?.account, answered?.session, answered?.key];
    expect(key?.token).toMatch(/^svc_pat_/);
    expect(line).toMatchObject({
      operation: 'adminCreateAccount',
      operator: 'ben',
      named: {},
      answer: { 'account.user_id': account?.user_id, 'session.id': session?.id, 'key.id': key?.id },
      fields: ['name', 'email', 'picture_url', 'key_name'],
      outcome: 'done',
      reason: null,
    });
    for (const hidden of [ada.name, ada.email, 'laptop', session?.session_token, key?.token]) expect(text).not.toContain(hidden);
  });

  it('[GEN-10] withholds an address that was typed where an id belongs', async () => {
    const { line, text } = await act('accounts/ada%40acme.test/sessions', {});
    expect(line).toMatchObject({ named: { id: '[withheld]' }, outcome: 'refused', reason: 'not_found' });
    expect(text).not.toContain('acme.test');
  });

  it.each(['two words', 'x'.repeat(65), 'a"b'])('takes no name for the operator that could be something else: %s', async (name) => {
    expect((await act('accounts', ada, { 'x-operator-name': name })).line).toMatchObject({ operator: null });
  });

  it('tells of somebody who is no operator too', async () => {
    const { line } = await act('accounts', ada, asService('gateway'));
    expect(line).toMatchObject({
      operation: 'adminCreateAccount',
      caller: null,
      outcome: 'refused',
      reason: 'unauthorized',
      named: {},
    });
  });
});
