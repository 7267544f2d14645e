import { describe, expect, it } from '@jest/globals';
import { faultsOf } from './guards.ts';

const pact = (consumer: string) => ({
  consumer: { name: consumer },
  provider: { name: 'provider' },
  interactions: [
    { type: 'Synchronous/HTTP', description: 'a question', providerStates: [{ name: 'a state' }] },
    { type: 'Asynchronous/Messages', description: 'a message', providerStates: [] },
  ],
});
const claims = {
  provider: 'provider',
  expectedConsumers: ['one'],
  states: ['a state'],
  messages: ['a message'],
  consumed: [],
};

describe('a provider is not verified in vain', () => {
  it('when all that is expected is there', () => {
    expect(faultsOf([pact('one')], claims)).toEqual([]);
  });

  it.each([
    ['without any consumer', [], { ...claims, expectedConsumers: [] }, 'nobody is expected to rely on provider'],
    ['without a pact', [], claims, 'no pact of one with provider'],
    ['with a pact that nobody listed', [pact('one'), pact('two')], claims, 'an unexpected pact of two with provider'],
    ['with an empty pact', [{ ...pact('one'), interactions: [] }], claims, 'the pact of one is empty'],
    ['with a state that nobody sets up', [pact('one')], { ...claims, states: [] }, 'no state "a state"'],
    ['with a message that nobody sends', [pact('one')], { ...claims, messages: [] }, 'no message "a message"'],
    [
      'with an event that is consumed without a pact',
      [pact('one')],
      {
        ...claims,
        consumed: [
          { consumer: 'one', type: 'a message' },
          { consumer: 'one', type: 'a new event' },
        ],
      },
      'one consumes a new event without a pact',
    ],
  ])('but not %s', (_, pacts, changed, fault) => {
    expect(faultsOf(pacts, changed)).toEqual([fault]);
  });
});
