import { CREDENTIAL_KINDS } from '@bubbles/contracts/access.ts';
import { describe, expect, it } from '@jest/globals';
import { productSources, type Source } from './sources.ts';

/** As a literal or as the key of a table. */
const kindsNamedIn = ({ text }: Source): readonly string[] =>
  CREDENTIAL_KINDS.filter((kind) => new RegExp(String.raw`['"\x60]${kind}['"\x60]|\b${kind}: `).test(text));

/** What tells one kind of credential from another has to be looked at when a kind is added. */
const telling = (sources: readonly Source[]): readonly string[] =>
  sources.filter((source) => kindsNamedIn(source).length > 1).map(({ path }) => path);

describe('the kinds of credential', () => {
  it('notices a file that tells them apart', () => {
    const sources = [
      { path: 'switch.ts', text: "kind === 'pat' ? count() : kind === 'session' && sign()" },
      { path: 'table.ts', text: 'const LIMITS = { pat: 120, oauth: 60, session: 120 };' },
      { path: 'one.ts', text: "if (kind === 'pat') note();" },
      { path: 'none.ts', text: 'const sessions = patient(author);' },
    ];
    expect(telling(sources)).toEqual(['switch.ts', 'table.ts']);
  });

  it('are told apart where they are listed, where tokens are looked up and where routes are guarded: a new kind touches no more', () => {
    expect(telling(productSources())).toEqual([
      'contracts/src/access.ts',
      'services/identity-and-oauth/src/adapters/store/credentials.ts',
      'shared/auth/src/guards.ts',
    ]);
  });
});
