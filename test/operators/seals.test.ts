import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { everyService } from '../support/services.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Handed out and not stored: the service says how long such a value may come back. */
const ELSEWHERE = 'elsewhere';

/** Where each call of `seal` in a file puts what it has sealed. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  'services/identity-and-oauth/src/adapters/signing/key-ring.ts': ['assertion_keys.sealed, oauth_signing_keys.sealed'],
  'services/meetings-bot-gateway/src/adapters/notetakers/simulator.ts': ['simulated_runs.linkSealed'],
  'services/meetings-bot-gateway/src/use-cases/joins.ts': ['joins.linkSealed'],
  'services/signup/src/adapters/calendar/links.ts': [ELSEWHERE],
  'services/signup/src/use-cases/calendar.ts': [ELSEWHERE, 'calendar_grants.sealedToken'],
  'services/webhooks-dispatcher/src/use-cases/subscriptions.ts': ['subscriptions.secretSealed', 'subscriptions.previousSecret.sealed'],
  'shared/host/src/idempotency-store.ts': ['idempotency_keys.seedSealed', 'idempotency_keys.answer.body'],
  'shared/host/src/seals.ts': ['where it was'],
  'shared/mail/src/mailer.ts': ['mails.sealed'],
};

/** `seal.seal(…)`, or the method of what `createSeal(…)` has just made. */
const CALL = /\bseal\.seal\(|\)\.seal\(/g;
const sources = globSync(['services/*/src/**/*.ts', 'shared/*/src/**/*.ts'], { cwd: ROOT }).filter(
  (file) => !file.endsWith('.test.ts') && !file.startsWith('shared/testing/'),
);
const callsIn = (file: string): number => readFileSync(join(ROOT, file), 'utf8').match(CALL)?.length ?? 0;

describe('whatever is sealed', () => {
  it('has a place that is known: a new call says here where it is kept, and its service names that in `sealed`', () => {
    const found = Object.fromEntries(sources.flatMap((file) => (callsIn(file) > 0 ? [[file, callsIn(file)]] : [])));
    expect(found).toEqual(Object.fromEntries(Object.entries(KEPT).map(([file, places]) => [file, places.length])));
  });

  it('can be sealed again by its service, whose route is there', () => {
    const declared = everyService().flatMap(({ sealed }) =>
      sealed.flatMap(({ collection, fields }) => fields.map((field) => `${collection}.${field}`)),
    );
    const known = Object.values(KEPT)
      .flat()
      .flatMap((places) => places.split(', '))
      .filter((place) => place.includes('.'));
    expect([...new Set(declared)].toSorted()).toEqual(known.toSorted());
    const sealing = everyService().filter(({ sealed }) => sealed.length > 0);
    expect(sealing.map(({ name, routes }) => [name, routes.some(({ spec }) => spec.path === '/internal/v1/admin/seals')])).toEqual(
      sealing.map(({ name }) => [name, true]),
    );
  });
});
