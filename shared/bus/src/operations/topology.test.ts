import { describe, expect, it } from '@jest/globals';
import { brokerFault } from './topology.ts';

const URL = 'amqps://signup:secret@mq.internal:5671/prod%2Feu';
const coded = (code: string) => Object.assign(new Error(`connect ${code} 10.0.0.1:5671`), { code });

describe('what an operator is told of a broker', () => {
  it.each([
    [
      new Error('Handshake terminated by server: 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - Login was refused using PLAIN."'),
      { text: 'the broker at mq.internal:5671 refuses the user or the password', isRefusal: true },
    ],
    [
      new Error('Expected ConnectionOpenOk; got <ConnectionClose channel:0>'),
      { text: "the broker at mq.internal:5671 has no vhost 'prod/eu', or this user may not use it", isRefusal: true },
    ],
    [coded('ECONNREFUSED'), { text: 'the broker at mq.internal:5671 is out of reach: ECONNREFUSED', isRefusal: false }],
    [coded('ENOTFOUND'), { text: 'the broker at mq.internal:5671 is out of reach: ENOTFOUND', isRefusal: false }],
    [new Error('Heartbeat timeout'), { text: 'the broker at mq.internal:5671 is out of reach: Heartbeat timeout', isRefusal: false }],
  ])('%s', (error, fault) => {
    expect(brokerFault(error, URL)).toEqual(fault);
  });
});
