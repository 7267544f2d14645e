import type { Role } from '@bubbles/contracts/access.ts';
import type { BubbleType } from '@bubbles/contracts/api/bubble.ts';
import type { Actions } from './control/actions.ts';
import type { SandboxBubble, SandboxTeam, SandboxUser } from './control/bodies.ts';

import { NewBubble, NewComment } from './pipeline/fields.ts';

/** The seeded world without the parts that change: where it is served, and the time. */
export interface World {
  readonly users: Readonly<Record<string, SandboxUser>>;
  readonly teams: Readonly<Record<string, SandboxTeam>>;
  readonly bubbles: Readonly<Record<string, SandboxBubble & { readonly type: BubbleType }>>;
}

const HOUR_MS = 3_600_000;

const PEOPLE = {
  ada: 'Ada Quinn',
  ben: 'Ben Osei',
  gus: 'Gus Holm',
  fay: 'Fay Duarte',
  eve: 'Eve Marsh',
} as const;

const STANDUP_NOTES =
  'The team reviewed the launch of the mobile app. Ben showed the new onboarding, which cuts sign-up from six steps to three. Ada asked for numbers from the pilot customers before the date is fixed.';
const STANDUP_ACTIONS = 'Ben: send the pilot numbers by Thursday.\nAda: confirm the launch date with marketing.';

async function people(actions: Actions) {
  const users: Record<string, SandboxUser> = {};
  for (const [handle, name] of Object.entries(PEOPLE)) users[handle] = await actions.createUser({ name, email: `${handle}@example.com` });
  const idOf = (handle: keyof typeof PEOPLE): string => users[handle]?.id ?? '';
  return { users, idOf };
}

async function teamsOf(actions: Actions, idOf: (handle: keyof typeof PEOPLE) => string) {
  const shared = { archived: false, discoverable: true, trial_ends_at: null };
  const member = (handle: keyof typeof PEOPLE, role: Role) => ({ user_id: idOf(handle), role, hidden: false });
  const acme = await actions.createTeam({
    ...shared,
    name: 'Acme',
    plan: 'pro',
    domain: 'acme.example',
    members: [member('ada', 'admin'), member('ben', 'member'), member('gus', 'guest')],
    channels: [
      { name: 'general', member_ids: null },
      { name: 'leads', member_ids: [idOf('ada')] },
    ],
  });
  const flea = await actions.createTeam({
    ...shared,
    name: 'Flea Market',
    plan: 'free',
    domain: 'flea.example',
    members: [member('fay', 'admin')],
    channels: [{ name: 'general', member_ids: null }],
  });
  return { acme, flea };
}

function standup(ada: string, ben: string) {
  return {
    type: 'meeting_recording',
    title: 'Weekly stand-up',
    author_id: ada,
    participant_ids: [ada, ben],
    external_participants: [{ name: 'Olga Petrova', email: 'olga@partner.example' }],
    summary: STANDUP_NOTES,
    action_items: STANDUP_ACTIONS,
    segments: [
      {
        speaker: { id: ada, name: 'Ada Quinn' },
        text: 'Good morning. Where are we with the mobile app?',
        start_time_seconds: 0,
        end_time_seconds: 6.5,
      },
      { speaker: { id: ben, name: 'Ben Osei' }, text: 'The new onboarding is done.', start_time_seconds: 7, end_time_seconds: 11 },
      { speaker: { id: ben, name: 'Ben Osei' }, text: 'Sign-up is down to three steps.', start_time_seconds: 11.2, end_time_seconds: 16 },
      {
        speaker: { id: ada, name: 'Ada Quinn' },
        text: 'Great. I need the numbers of the pilot before we fix the date.',
        start_time_seconds: 17,
        end_time_seconds: 23,
      },
    ],
  };
}

async function commentOnStandup(actions: Actions, bubbleId: string, { ada, ben }: { readonly ada: string; readonly ben: string }) {
  const first = await actions.comment(
    bubbleId,
    NewComment.parse({ author_id: ben, body: 'The recording of the demo is in the drive.', timestamp_seconds: 12, pinned: true }),
  );
  await actions.comment(bubbleId, NewComment.parse({ author_id: ada, body: 'Thanks, watching it now.', thread_id: first.threadId }));
  await actions.comment(bubbleId, NewComment.parse({ author_id: ada, body: 'Can we get these by Thursday?', timestamp_seconds: 20 }));
}

/** Makes the world that everybody starts from, newest bubble first in the order below. */
export async function seedWorld(actions: Actions, now: Date): Promise<World> {
  const { users, idOf } = await people(actions);
  const [ada, ben, fay] = [idOf('ada'), idOf('ben'), idOf('fay')];
  const { acme, flea } = await teamsOf(actions, idOf);
  const inAcme = { team_id: acme.id, channel_id: acme.channels['general'], participant_ids: [ada] };
  const plain: Record<string, Record<string, unknown>> = {
    standup: standup(ada, ben),
    demo: { type: 'screen_recording', title: 'Product demo' },
    silent: { type: 'screen_recording', title: 'Silent walkthrough', has_audio: false },
    poster: { type: 'custom_image', title: 'Launch poster' },
    raw: { type: 'meeting_recording', title: 'Planning', stage: 'created' },
    legacy: { type: 'screen_recording', title: 'Recording from before', created_at: null },
    public: { type: 'screen_recording', title: 'Public announcement', is_public: true },
    archived: { type: 'screen_recording', title: 'Archived recording', archived: true },
    draft: { type: 'screen_recording', title: 'Draft recording', draft: true },
    template: { type: 'screen_recording', title: 'Template', template: true },
    expired: { type: 'screen_recording', title: 'Expired recording', expires_at: new Date(now.getTime() - HOUR_MS).toISOString() },
    private: { type: 'screen_recording', title: 'Private notes', participant_ids: [ben] },
    fleabite: {
      type: 'screen_recording',
      title: 'Flea bite',
      team_id: flea.id,
      channel_id: flea.channels['general'],
      participant_ids: [fay],
    },
  };
  const bubbles: Record<string, SandboxBubble & { readonly type: BubbleType }> = {};
  for (const [n, [handle, fields]] of Object.entries(plain).entries()) {
    const created_at = new Date(now.getTime() - (n + 1) * HOUR_MS).toISOString();
    const body = NewBubble.parse({ created_at, ...inAcme, ...fields });
    bubbles[handle] = { ...(await actions.createBubble(body)), type: body.type };
  }
  await commentOnStandup(actions, bubbles['standup']?.id ?? '', { ada, ben });
  return { users, teams: { acme, flea }, bubbles };
}
