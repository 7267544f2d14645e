import { signupAgent } from '../conformance/support/signup.ts';
import { freshAddress, type World } from '../conformance/support/world.ts';
import type { Pool } from './requests.ts';

const SIGNUPS = 8;

/** Signups in the place of earlier ones: a code is good for ten minutes, a signup for an hour. */
export async function signUp(world: World, { signups, codes }: Pick<Pool, 'signups' | 'codes'>): Promise<void> {
  const agent = signupAgent(world);
  signups.splice(0);
  codes.splice(0);
  for (let n = 0; n < SIGNUPS; n++) {
    signups.push(await agent.created(freshAddress('ada')), await agent.listed(freshAddress('ben')));
    const address = freshAddress('eve');
    codes.push({ signup_session: await agent.started(address), code: await agent.code(address) });
  }
}
