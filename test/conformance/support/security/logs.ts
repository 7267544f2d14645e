import { expect } from '@jest/globals';
import { type Checks, type Lab, request } from './lab.ts';

/** Tokens, secrets and what goes with them, however they came into a line. What the last line of defence has hidden is no secret any more. */
const SECRET =
  /(svc_[a-z]+_|whsec_)[A-Za-z0-9+/_=-]{4,}|Bearer\s+(?!\[redacted\])[A-Za-z0-9._~+/-]{8,}|eyJ[A-Za-z0-9_-]{10,}\.|(client_secret|code|signup_session|refresh_token|access_token|csrf|session)=(?!\[redacted\])[^\s"&]/;

export const linesOf = ({ sandbox }: Pick<Lab, 'sandbox'>): string[] =>
  sandbox
    .errors()
    .split('\n')
    .filter((line) => line !== '');
export const secretsIn = (lines: readonly string[]): string[] => lines.filter((line) => SECRET.test(line));

export const LOG_CHECKS: Checks = {
  'SECRETSINLOGS-01': async (lab) => {
    const { pat: as } = await lab.world.user();
    await lab.call(`/v1/bubbles?access_token=${as}&code=123456&cursor=${as}`, { as });
    await lab.call(`/v1/bubbles/${as}`, { as });
    await lab.call('/v1/me', { headers: { authorization: as, cookie: `session=${as}`, 'user-agent': `Bearer ${as}` } });
    const lines = linesOf(lab);
    expect(lines.length).toBeGreaterThan(100);
    expect(secretsIn(lines)).toEqual([]);
    expect(lab.sandbox.errors()).not.toContain(as);
  },
  'SECRETSINLOGS-03': async (lab) => {
    const { pat } = await lab.world.user();
    const strange = ['User-Agent: a\x1b[31mred\tb', `Authorization: Bearer ${pat}`];
    await lab.raw(request('GET /v1/bubbles/search?q=a%0d%0ab%1b%5b31m HTTP/1.1', strange));
    await lab.raw(request('GET /v1/bubbles/a%0d%0a{"level":"fatal"} HTTP/1.1', strange));
    for (const line of linesOf(lab))
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), time: expect.any(String), message: expect.any(String) });
  },
};

/** Every service that had to do with a request wrote its line of it, under the id that the caller was told. */
export async function expectOneIdEverywhere(lab: Lab): Promise<void> {
  const { pat: as } = await lab.world.user();
  const id = (await lab.call('/v1/bubbles', { as })).headers.get('x-request-id') ?? '';
  const services = () => new Set(linesOf(lab).flatMap((line) => (line.includes(id) ? [JSON.parse(line).service] : [])));
  // The last line may come after the answer.
  for (let turn = 0; turn < 100 && services().size < 3; turn++) await lab.call('/v1/openapi.json');
  expect([...services()].toSorted()).toEqual(['bubbles-query', 'gateway', 'identity-and-oauth']);
}
