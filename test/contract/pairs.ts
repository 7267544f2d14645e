/** Which service relies on which: [consumer, provider]. A pact that is not there, or one too many, fails the run. */
export const PAIRS: readonly (readonly [string, string])[] = [
  ['gateway', 'identity-and-oauth'],
  ['gateway', 'bubbles-query'],
  ['gateway', 'signup'],
  ['identity-and-oauth', 'webhooks-dispatcher'],
  ['bubbles-query', 'identity-and-oauth'],
  ['bubbles-query', 'recording-pipeline'],
  ['bubbles-query', 'meetings-bot-gateway'],
  ['meetings-bot-gateway', 'identity-and-oauth'],
  ['meetings-bot-gateway', 'recording-pipeline'],
  ['signup', 'identity-and-oauth'],
  ['webhooks-dispatcher', 'identity-and-oauth'],
  ['webhooks-dispatcher', 'bubbles-query'],
  ['webhooks-dispatcher', 'recording-pipeline'],
];

export const consumersOf = (provider: string): readonly string[] => PAIRS.filter(([, of]) => of === provider).map(([consumer]) => consumer);
