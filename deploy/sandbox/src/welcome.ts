import type { World } from './world.ts';

/** What a newcomer sees when everything answers. */
export const welcome = (url: string, { users }: World): string => `
The recordings and meeting-notes service is running, with a small world of people and bubbles in it.

Listening on ${url}

  API reference   ${url}/docs
  The world       ${url}/_sandbox/world
  Try it          curl -s ${url}/v1/bubbles -H "Authorization: Bearer ${users['ada']?.pat}"

Stop it with Ctrl-C; the data is kept. \`npm start -- --fresh\` begins anew.
`;
