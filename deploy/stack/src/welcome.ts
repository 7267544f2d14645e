import { join } from 'node:path';
import type { Stack } from './stack.ts';
import type { StackState } from './state.ts';

/** What an operator sees when everything answers. */
export const welcome = (home: string, { layout }: StackState, stack: Stack): string => {
  const [gateway = '', ...others] = stack.plansOf('gateway').map(({ url }) => url);
  const [identity = ''] = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  return `
${stack.plans.length} processes run and are ready; their logs are in ${join(home, 'logs')}.

Listening on ${[gateway, ...others].join(' and ')}

  API reference   ${gateway}/docs

  For the operator's commands and the tests
    export STACK_URL=${gateway} IDENTITY_URL=${identity} OPERATOR_KEY_FILE=${stack.keys.privateKeyFile('operator')}
    export AMQP_URL='${layout.amqpUrl}' MONGODB_URL='${layout.mongoUrl}'

  A first account, and what it sees
    TOKEN=$(npm run -s admin -- accounts create --name Ada --key-name first | grep -o 'svc_pat_[A-Za-z0-9_-]\\{43,\\}')
    curl -s ${gateway}/v1/me -H "Authorization: Bearer $TOKEN"

Stop it with \`npm run stack -- down\`.
`;
};
