import type { PactFile } from './pact-files.ts';

interface Claims {
  readonly provider: string;
  readonly expectedConsumers: readonly string[];
  readonly states: readonly string[];
  readonly messages: readonly string[];
}

const without = (wanted: readonly string[], present: readonly string[]): readonly string[] =>
  wanted.filter((name) => !present.includes(name));

/** What the verifier would pass over: no pact at all, a pact too few or too many, a state that nobody sets up, a message that nobody sends. */
export const faultsOf = (pacts: readonly PactFile[], { provider, expectedConsumers, states, messages }: Claims): readonly string[] => {
  const consumers = pacts.map(({ consumer }) => consumer.name);
  const interactions = pacts.flatMap((pact) => pact.interactions);
  const named = interactions.flatMap(({ providerStates }) => providerStates.map(({ name }) => name));
  const sent = interactions.filter(({ type }) => type === 'Asynchronous/Messages').map(({ description }) => description);
  return [
    ...(expectedConsumers.length === 0 ? [`nobody is expected to rely on ${provider}`] : []),
    ...without(expectedConsumers, consumers).map((name) => `no pact of ${name} with ${provider}`),
    ...without(consumers, expectedConsumers).map((name) => `an unexpected pact of ${name} with ${provider}`),
    ...pacts.filter((pact) => pact.interactions.length === 0).map(({ consumer }) => `the pact of ${consumer.name} is empty`),
    ...without(named, states).map((name) => `no state "${name}"`),
    ...without(sent, messages).map((name) => `no message "${name}"`),
  ];
};
