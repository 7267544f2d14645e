import { describe, expect, it } from '@jest/globals';
import { breachesIn } from './breaches.ts';
import type { PactFile } from './pact-files.ts';
import { relianceChanges } from './reliance.ts';

describe('what the verifier says', () => {
  const result = { consumer: 'dispatcher', provider: 'identity', description: 'a question' };
  const missing = { mismatch: 'Actual map is missing the following keys: plan, state', path: '$.users[0]', type: 'BodyMismatch' };
  const status = { mismatch: 'expected 200 but was 404', type: 'StatusMismatch' };

  it('names provider, consumer, field and change in one line each', () => {
    const said = JSON.stringify({
      interactionResults: [
        { ...result, mismatch: { type: 'mismatches', mismatches: [missing, status] }, result: 'Error' },
        { ...result, mismatch: { type: 'error', message: 'connection refused' }, result: 'Error' },
        { ...result, result: 'OK' },
      ],
    });
    expect(breachesIn(said)).toEqual([
      'identity breaks dispatcher: $.users[0].plan is missing (a question)',
      'identity breaks dispatcher: $.users[0].state is missing (a question)',
      'identity breaks dispatcher: status: expected 200 but was 404 (a question)',
      'identity breaks dispatcher: connection refused (a question)',
    ]);
  });

  it('passes on what is no verdict', () => {
    expect(breachesIn('Error: no pacts')).toEqual(['Error: no pacts']);
  });
});

describe('a pact that changed', () => {
  const pact = (content: object, rules: object = {}, description = 'a question'): PactFile => ({
    consumer: { name: 'dispatcher' },
    provider: { name: 'identity' },
    interactions: [
      {
        description,
        providerStates: [],
        request: { method: 'POST', path: '/access', headers: {}, query: {} },
        response: { status: 200, body: { content }, matchingRules: { body: rules } },
      },
    ],
  });
  const before = pact({ users: [{ id: 'a', state: 'active' }] });

  it('says who relies on what since', () => {
    expect(relianceChanges(before, before)).toEqual([]);
    expect(relianceChanges(before, pact({ users: [{ id: 'a', plan: 'pro' }] }))).toEqual([
      'dispatcher now relies on $.users[*].plan of identity (a question)',
      'dispatcher no longer relies on $.users[*].state of identity (a question)',
    ]);
    const loose = pact({ users: [{ id: 'a', state: 'active' }] }, { '$.users[*].id': { matchers: [{ match: 'type' }] } });
    expect(relianceChanges(before, loose)).toEqual(['dispatcher relies on another form of $.users[*].id of identity (a question)']);
  });

  it('says so too of one that is new or gone', () => {
    expect(relianceChanges(null, before)).toEqual([
      'dispatcher now relies, for the first time, on an answer or message of identity (a question)',
    ]);
    expect(relianceChanges(before, null)).toEqual(['dispatcher no longer relies on anything of identity (a question)']);
  });
});
