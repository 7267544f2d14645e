import { MEMORY, type SandboxConfig } from './config.ts';
import { hostOf, isLocalHost } from './control/callers.ts';
import type { World } from './world.ts';

/** What a newcomer sees when everything answers. */
export const welcome = (url: string, { users }: World, { data }: Pick<SandboxConfig, 'data'>): string => `
The recordings and meeting-notes service is running, with a small world of people and bubbles in it.

Listening on ${url}

  API reference   ${url}/docs
  The world       ${url}/_sandbox/world
  Control plane   ${url}/_sandbox/docs
  Try it          curl -s ${url}/v1/bubbles -H "Authorization: Bearer ${users['ada']?.pat}"

${data === MEMORY ? 'Stop it with Ctrl-C; nothing is kept.' : 'Stop it with Ctrl-C; the data is kept. `npm start -- --fresh` starts fresh.'}
`;

/** What the owner of this machine should know of who else reaches it; null when nobody does. */
export const exposureWarning = ({ host, callers }: Pick<SandboxConfig, 'host' | 'callers'>): string | null => {
  if (callers.remote)
    return 'warning: SANDBOX_REMOTE_CONTROL lets everybody who reaches this port read all tokens, change and reset the world.';
  if (isLocalHost(hostOf(host))) return null;
  return `warning: HOST=${host} lets other machines reach the public API. /_sandbox/ answers this machine only; SANDBOX_REMOTE_CONTROL=1 opens it to them.`;
};
