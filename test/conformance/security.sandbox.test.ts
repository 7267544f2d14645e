import { readFileSync } from 'node:fs';
import { type RawConnection, rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSandbox, worldAt } from './support/sandbox-world.ts';
import { CREDENTIAL_CHECKS } from './support/security/credentials.ts';
import { EDGE_CHECKS } from './support/security/edge.ts';
import { INPUT_CHECKS } from './support/security/inputs.ts';
import { type Checks, type Lab, labOf, readRaw } from './support/security/lab.ts';
import { expectOneIdEverywhere, LOG_CHECKS } from './support/security/logs.ts';
import { OAUTH_CHECKS } from './support/security/oauth.ts';
import { PROTOCOL_CHECKS } from './support/security/protocol.ts';
import { READING_CHECKS } from './support/security/reading.ts';
import { SIGNUP_CHECKS } from './support/security/signup.ts';

interface Case {
  readonly id: string;
  readonly area: string;
  readonly action: string;
}

/** What one process without a proxy, a database driver or a name server cannot show, and the test that does. */
const PROVEN_IN: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'SIGNUP-28': ['services/signup/test/floods.test.ts', '10,000 of them leave nothing'],
  'NOSQLINJECTION-09': ['shared/testing/src/collection-contract/errors.ts', 'undefined for the _id'],
  'OAUTHBRIEF-04': [
    'services/identity-and-oauth/src/use-cases/tokens.ts',
    'timingSafeEqual(Buffer.from(hashToken(secret)), Buffer.from(secretHash))',
  ],
  'CURSOR-09': ['shared/kernel/src/cursors.test.ts', 'accepts the previous key, and no other'],
  'DOSTIMEOUTS-04': ['services/gateway/test/bodies.test.ts', 'a client that reads too slowly for too long is cut'],
  'RATELIMIT-04': ['services/gateway/test/failures.test.ts', 'one credential is always counted by the same replica'],
  'HOSTANDFORWARDED-01': ['services/gateway/test/document.test.ts', 'a configured base URL is the only one'],
  'HOSTANDFORWARDED-06': ['services/gateway/src/messages/request.test.ts', 'clientAddress'],
  'SECRETSINLOGS-04': ['shared/kernel/src/run-process.test.ts', 'says why without a credential'],
  'SECRETSINLOGS-06': ['services/gateway/test/reference.test.ts', 'route="unmatched",status="404"'],
  'MESSAGING-02': ['services/bubbles-query/test/orders.test.ts', 'facts in any order, twice and late'],
  'MESSAGING-03': ['deploy/keys/src/broker-rights.test.ts', '[MESSAGING-03] $name publishes its own types'],
  'MESSAGING-05': ['test/architecture/compose.test.ts', '[MESSAGING-05] opens no port of broker, store, probes or metrics'],
  'WEBHOOKSSRFBRIEF-02': [
    'services/webhooks-dispatcher/src/adapters/receiver/receiver.test.ts',
    'a name that rebinds between two connects is judged at each',
  ],
};
const AREAS = [
  ...['authn-header', 'pat', 'session-token-confusion', 'idor-and-404', 'nosql-injection', 'prototype-pollution', 'strings-unicode'],
  ...['integers-limits', 'dates', 'cursor', 'json-body', 'http-protocol', 'ratelimit', 'cors-cache-headers', 'host-and-forwarded'],
  ...['account-state', 'oauth-brief', 'webhook-ssrf-brief', 'signup', 'dos-timeouts', 'secrets-in-logs', 'messaging'],
];

const HEADERS_TIMEOUT_MS = 15_000;
const text = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const cases: Case[] = JSON.parse(text('security-cases.json'));
const inScope = AREAS.flatMap((area) => cases.filter((one) => one.area === area));

let lab: Lab;
let silent: RawConnection[];
let dripping: RawConnection[];
const closedAfterMs: number[] = [];
beforeAll(async () => {
  const sandbox = await startSandbox(['--data', ':memory:'], { LOG_LEVEL: 'debug' });
  lab = labOf(
    sandbox,
    worldAt(sandbox.url, () => sandbox.stop()),
  );
  const connections = (count: number) => Array.from({ length: count }, () => rawConnection(sandbox.url));
  [silent, dripping] = [connections(75), connections(75)];
  const openedAt = Date.now();
  for (const { received } of [...silent, ...dripping]) void received.then(() => closedAfterMs.push(Date.now() - openedAt));
  for (const connection of dripping) connection.write('GET /v1/me HTTP/1.1\r\nHost: api.test\r\n');
  const drip = setInterval(() => {
    for (const connection of dripping) if (connection.socket.writable) connection.write('X-Drip: a\r\n');
  }, 1000);
  drip.unref();
});
afterAll(() => lab.world.close());

/** They were opened at the start, so that the others need not wait for them. */
const closedInTime = async (connections: readonly RawConnection[]): Promise<string[]> => {
  const answers = await Promise.all(connections.map(({ received }) => received));
  expect(closedAfterMs.reduce((most, ms) => Math.max(most, ms))).toBeLessThan(2 * HEADERS_TIMEOUT_MS);
  return answers;
};
const TIMEOUT_CHECKS: Checks = {
  'DOSTIMEOUTS-01': async () => {
    for (const answer of await closedInTime(dripping)) expect(readRaw(answer).status).toBe(400);
  },
  'DOSTIMEOUTS-03': async () => {
    expect(await closedInTime(silent)).toHaveLength(75);
  },
};
const CHECKS: Checks = {
  ...CREDENTIAL_CHECKS,
  ...READING_CHECKS,
  ...INPUT_CHECKS,
  ...PROTOCOL_CHECKS,
  ...EDGE_CHECKS,
  ...TIMEOUT_CHECKS,
  ...OAUTH_CHECKS,
  ...SIGNUP_CHECKS,
  ...LOG_CHECKS,
};

describe('the security cases', () => {
  it('each has a check, or a reason why it has none', () => {
    const known = new Set([...Object.keys(CHECKS), ...Object.keys(PROVEN_IN)]);
    expect(inScope.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([]);
    const ids = new Set(inScope.map(({ id }) => id));
    expect([...known].filter((id) => !ids.has(id))).toEqual([]);
  });

  it.each(Object.entries(PROVEN_IN))('%s is proven elsewhere', (_id, [file, title]) => {
    expect(text(`../../${file}`)).toContain(title);
  });

  it('[GEN-09] the id of a request is on the lines of every service that served it', async () => {
    await expect(expectOneIdEverywhere(lab)).resolves.toBeUndefined();
  });

  it.each(inScope.filter(({ id }) => Object.hasOwn(CHECKS, id)))('$id $action', async ({ id }) => {
    await expect(CHECKS[id]?.(lab)).resolves.toBeUndefined();
  });
});
