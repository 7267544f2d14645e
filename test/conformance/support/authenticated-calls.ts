import type { Call } from './client.ts';

type AuthenticatedCall = readonly [path: string, call: Call];

export const HOOK = { url: 'https://receiver.example.com/hook', events: ['bubble.ready'] };
export const hook = { method: 'POST', body: HOOK };

/** Every authenticated endpoint that there is, with a body that it would take. */
export const PAT_CALLS: readonly AuthenticatedCall[] = [
  ['/v1/me', {}],
  ['/v1/teams', {}],
  ['/v1/bubbles', {}],
  ['/v1/bubbles/search?q=a', {}],
  ['/v1/bubbles/x', {}],
  ['/v1/bubbles/x/transcript', {}],
  ['/v1/bubbles/x/export?format=vtt', {}],
  ['/v1/bubbles/x/comments', {}],
  ['/v1/webhooks', {}],
  ['/v1/webhooks', hook],
  ['/v1/webhooks/wh_x', {}],
  ['/v1/webhooks/wh_x', { method: 'PATCH', body: {} }],
  ['/v1/webhooks/wh_x', { method: 'DELETE' }],
  ['/v1/webhooks/wh_x/test', { method: 'POST' }],
  ['/v1/meetings/join', {}],
  ['/v1/meetings/join/mj_x', {}],
  ['/v1/meetings/join/mj_x', { method: 'DELETE' }],
  ['/v1/meetings/join/mj_x/events', {}],
];
export const SESSION_CALLS: readonly AuthenticatedCall[] = [
  ['/v1/api-keys', {}],
  ['/v1/api-keys', { method: 'POST', body: { name: 'a' } }],
  ['/v1/api-keys/x', { method: 'DELETE' }],
];
