import type { PactFile } from './pact-files.ts';

export interface ConsumedEvent {
  readonly consumer: string;
  readonly type: string;
}

interface Claims {
  readonly provider: string;
  readonly expectedConsumers: readonly string[];
  readonly states: readonly string[];
  readonly messages: readonly string[];
  /** Of the provider's events, by consumer. */
  readonly consumed: readonly ConsumedEvent[];
}

const without = (wanted: readonly string[], present: readonly string[]): readonly string[] =>
  wanted.filter((name) => !present.includes(name));

const messagesOf = ({ interactions }: PactFile): readonly string[] =>
  interactions.filter(({ type }) => type === 'Asynchronous/Messages').map(({ description }) => description);

const isExpected = (pacts: readonly PactFile[], { consumer, type }: ConsumedEvent): boolean =>
  pacts.some((pact) => pact.consumer.name === consumer && messagesOf(pact).includes(type));

/** What pacts name and a provider does not know. */
export const unknownOf = (pacts: readonly PactFile[], { states, messages }: Pick<Claims, 'states' | 'messages'>): readonly string[] => {
  const named = pacts.flatMap((pact) => pact.interactions).flatMap(({ providerStates }) => providerStates.map(({ name }) => name));
  return [
    ...without(named, states).map((name) => `no state "${name}"`),
    ...without(pacts.flatMap(messagesOf), messages).map((name) => `no message "${name}"`),
  ];
};

/** What the verifier would pass over: no pact at all, a pact too few or too many, a state that nobody sets up, a message that nobody sends or expects. */
export const faultsOf = (
  pacts: readonly PactFile[],
  { provider, expectedConsumers, states, messages, consumed }: Claims,
): readonly string[] => {
  const consumers = pacts.map(({ consumer }) => consumer.name);
  return [
    ...(expectedConsumers.length === 0 ? [`nobody is expected to rely on ${provider}`] : []),
    ...without(expectedConsumers, consumers).map((name) => `no pact of ${name} with ${provider}`),
    ...without(consumers, expectedConsumers).map((name) => `an unexpected pact of ${name} with ${provider}`),
    ...pacts.filter((pact) => pact.interactions.length === 0).map(({ consumer }) => `the pact of ${consumer.name} is empty`),
    ...unknownOf(pacts, { states, messages }),
    ...consumed.filter((event) => !isExpected(pacts, event)).map(({ consumer, type }) => `${consumer} consumes ${type} without a pact`),
  ];
};
