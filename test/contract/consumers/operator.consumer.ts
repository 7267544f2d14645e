import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { ROOT } from '../../architecture/sources.ts';
import { ACTS, IDS } from '../operator-acts.ts';
import { calledBy, pactBetween } from '../pacts.ts';

/** They ask the broker. */
const OF_THE_BROKER = ['dead-letters list', 'dead-letters redrive'];

/** With the provider's ids in the place of ours. */
const givenIds = (text: string) => {
  const expression = Object.entries(IDS).reduce((made, [name, id]) => made.replaceAll(id, `\${${name}}`), text);
  return expression === text ? text : Matchers.fromProviderState(expression, text);
};
const givenIn = (body: unknown): unknown => {
  if (typeof body === 'string') return givenIds(body);
  if (Array.isArray(body)) return body.map(givenIn);
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, givenIn(value)]));
};
const named = (line: string): string => Object.entries(IDS).reduce((made, [name, id]) => made.replaceAll(id, `<${name}>`), line);

const OPERATOR_KEY = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** As `npm run admin` does; rejects when the command fails. */
const admin = async (line: string, env: Readonly<Record<string, string>>): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)(process.execPath, [join(ROOT, 'deploy/admin/src/main.ts'), ...line.split(' ').filter((word) => word !== '')], {
    env: { ...process.env, ...env },
  });

/** Null on the last page. */
const PAGE_RULES = [{ path: '$.next_after', rules: [{ 'pact:matcher:type': 'regex', regex: '.+' }, { 'pact:matcher:type': 'null' }] }];

const acts = Object.entries(ACTS).flatMap(([provider, all]) => all.map((act) => ({ provider, ...act })));
const services: ServiceTable = SERVICES;

describe('an operator acts by the internal admin API', () => {
  it.each(acts)(
    '$line',
    async ({ provider, line, method, path, query, body, status, shown }) => {
      await pactBetween('operator', provider)
        .addInteraction()
        .given('what operators act on')
        .uponReceiving(`the command "${named(line)}"`)
        .withRequest(method, givenIds(`/internal/v1/admin/${path}`), (request) => {
          request.headers(calledBy('operator'));
          if (query !== undefined) request.query({ ...query });
          if (body !== undefined) request.jsonBody(givenIn(body));
        })
        .willRespondWith(status, (response) => {
          if (shown === undefined) return;
          response.jsonBody(shown);
          if ('next_after' in shown) response.matchingRules({ body: PAGE_RULES });
        })
        .executeTest(async ({ url }) => {
          const variable = (services[provider]?.urlsVariable ?? '').replace(/S$/, '');
          const { stdout } = await admin(line, { [variable]: url, OPERATOR_KEY });
          expect(stdout === '').toBe(shown === undefined);
        });
    },
    60_000,
  );

  it('with every command that there is', async () => {
    const usage = await admin('', {}).catch(({ stderr }: { readonly stderr: string }) => ({ stderr }));
    const commands = [...usage.stderr.matchAll(/^ +(\S+ \S+)/gm)].map(([, name]) => name);
    const used = acts.map(({ line }) => line.split(' ').slice(0, 2).join(' '));
    expect([...new Set([...used, ...OF_THE_BROKER])].sort()).toEqual(commands.sort());
  }, 60_000);
});
