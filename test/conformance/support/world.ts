import { randomUUID } from 'node:crypto';
/** A person of the scene, with both credentials. */
export interface Person {
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly session_token: string;
  readonly pat: string;
}

/** What an app has that a person allowed something. */
export interface OAuthScene {
  readonly client_id: string;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

export interface TeamScene {
  readonly id: string;
  readonly name: string | null;
  readonly plan: 'free' | 'pro';
  readonly channels: Readonly<Record<string, string>>;
}

export interface BubbleScene {
  readonly id: string;
  readonly short_id: string;
}

export interface SentMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly sent_at: string;
}

export interface SentNotetaker {
  readonly join_id: string;
  readonly meeting_url: string;
  readonly team_id: string;
  readonly requested_at: string;
  readonly left_at: string | null;
}

export interface MovedNotetaker {
  readonly join_id: string;
  readonly status: string;
  /** Null before `done`. */
  readonly bubble_id: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** How a test sets its scene, whatever runs below: every call answers when its effect shows on the public API. */
export interface World {
  readonly baseUrl: string;
  user(fields?: Fields): Promise<Person>;
  changeUser(id: string, fields: Fields): Promise<void>;
  setState(id: string, state: 'active' | 'disabled' | 'deleted'): Promise<void>;
  /** A grant as if the person had consented. `fields`: scopes, client_name, client_id. */
  oauthToken(userId: string, fields?: Fields): Promise<OAuthScene>;
  team(fields: Fields): Promise<TeamScene>;
  changeTeam(id: string, fields: Fields): Promise<void>;
  setMember(teamId: string, userId: string, membership: Fields): Promise<void>;
  endMember(teamId: string, userId: string): Promise<void>;
  bubble(fields: Fields): Promise<BubbleScene>;
  changeBubble(id: string, fields: Fields): Promise<void>;
  moveBubble(id: string, fields: Fields): Promise<void>;
  removeBubble(id: string): Promise<void>;
  comment(bubbleId: string, fields: Fields): Promise<{ readonly id: string; readonly thread_id: string }>;
  /** What the simulated notetakers were asked to do, oldest first. */
  notetakers(): Promise<readonly SentNotetaker[]>;
  /** One of them reports a status. */
  notetaker(joinId: string, fields: Fields): Promise<MovedNotetaker>;
  /** What was mailed to the address, newest first. On the stack a mail may come a little later than what it was sent for. */
  mails(to: string): Promise<readonly SentMail[]>;
  close(): Promise<void>;
}

/** Nobody has it yet: an address belongs to one account, and a stack keeps its people from run to run. */
export const freshAddress = (name: string, domain = 'acme.example'): string => `${name}-${randomUUID()}@${domain}`;
