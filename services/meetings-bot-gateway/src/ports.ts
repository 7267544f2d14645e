import type { OutgoingEvent } from '@bubbles/bus/outgoing.ts';
import type { CreatedPosition } from '@bubbles/kernel/cursors.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import type { Join, JoinStatus, Snapshot } from './domain/join.ts';
import type { MeetingPlatform } from './domain/meeting-link.ts';
import type { Quota } from './domain/quota.ts';

export interface JoinStore {
  /** False when the id is taken, or when a join of its running key runs. */
  insert(join: Join, events: readonly OutgoingEvent[]): Promise<boolean>;
  get(id: string): Promise<Join | null>;
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Join>>;
  /** Null also for the join of somebody else. */
  ofRequester(requesterId: string, id: string): Promise<Join | null>;
  listOf(requesterIds: readonly string[], page: JoinPage): Promise<readonly Join[]>;
  /** Those of these runs. */
  byRefs(refs: readonly { readonly provider: string; readonly ref: string }[]): Promise<readonly Join[]>;
  running(runningKey: string): Promise<Join | null>;
  /** The join whose recording became that bubble. */
  ofBubble(bubbleId: string): Promise<Join | null>;
  runningOf(requesterIds: readonly string[]): Promise<readonly Join[]>;
  /** Erases the links that are due. */
  eraseLinks(now: Date): Promise<void>;
  /** Lets all that is due later than `latest` be due at `dueAt`. */
  hasten(latest: Date, dueAt: Date): Promise<void>;
  /** Joins whose work has failed three times in a row or is overdue by five minutes; the longest waiting first. */
  stuck(now: Date, limit: number): Promise<readonly Join[]>;
  backlog(now: Date): Promise<Backlog>;
  /** Atomic, with its events in the same write. `change` runs again when another writer won; null from it changes nothing. Null: there is no such join. */
  update(id: string, change: (join: Join) => Changed<Join> | null): Promise<Join | null>;
}

export interface Backlog {
  /** Joins that have been silent for so long that their provider is to be asked now. */
  readonly silent: number;
  /** Recordings that are still to be captured. */
  readonly uncaptured: number;
  /** When the meeting ended whose recording waits longest; null when none does. */
  readonly oldestUncaptured: Date | null;
}

/** Newest first, after `position`; of every status when it is null. */
export interface JoinPage {
  readonly status: JoinStatus | null;
  readonly position: CreatedPosition | null;
  readonly limit: number;
}

export interface QuotaStore {
  /** One conditional write, once a join; when there is no room, when the oldest place was taken. */
  reserve(quota: Quota, joinId: string, now: Date): Promise<'reserved' | { readonly oldest: Date }>;
  /** Gives the join's places back. */
  release(keys: readonly (string | null)[], joinId: string): Promise<void>;
  /** Gives places back that were taken until `before` for joins that never came to be: those that `known` does not answer. */
  releaseOrphans(before: Date, known: (joinIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
  /** Drops the quotas that have ended. */
  sweep(now: Date): Promise<void>;
}

/** Events from providers, kept long enough to detect repetitions. An inserted event is processed even if the inserting process dies. */
export interface ProviderEventStore {
  /** False when it was told before. */
  insert(hint: ProviderHint): Promise<boolean>;
  /** Drops those that no provider sends again. */
  sweep(now: Date): Promise<void>;
}

/** `id`: of the event. */
export interface ProviderHint extends ProviderEvent {
  readonly provider: string;
  readonly receivedAt: Date;
}

/** A status that the join has come to, also `dispatched`. */
export type JoinAdvanced = (join: Join) => OutgoingEvent;
export type RecordingCaptured = (join: Join, recording: CapturedRecording) => OutgoingEvent;

export interface Participant {
  /** Null for a person without an account. */
  readonly userId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly isExternal: boolean;
}

export interface CapturedRecording extends Pick<Recording, 'title' | 'startedAt' | 'durationSeconds'> {
  readonly author: Participant;
  /** The author is one of them. */
  readonly participants: readonly Participant[];
  /** Null without a transcript. */
  readonly segments: readonly Segment[] | null;
  /** Null without a file. */
  readonly videoUrl: string | null;
}

export interface Access {
  /** Live; rejects with `unavailable` when identity does not answer for all that were asked. Addresses that no account has are absent. */
  ask(question: AccessQuestion): Promise<{
    readonly users: ReadonlyMap<string, UserAccess>;
    readonly teams: ReadonlyMap<string, { readonly archived: boolean; readonly plan: string }>;
    /** By the addresses as they were asked. */
    readonly byEmail: ReadonlyMap<string, UserAccess>;
  }>;
}
interface AccessQuestion {
  readonly userIds?: readonly string[];
  readonly teamIds?: readonly string[];
  readonly emails?: readonly string[];
}
export interface UserAccess {
  readonly id: string;
  readonly active: boolean;
  /** Rises when a deleted account is opened again: what it asked for before belongs to nobody. */
  readonly life: number;
  readonly memberships: readonly { readonly teamId: string; readonly role: string; readonly hidden: boolean }[];
}

/** A provider of notetakers. Its calls reject with `NotetakerError`; whatever else they reject with counts as transient. */
export interface Notetaker {
  readonly name: string;
  /** Sends one notetaker a join: called again with the same join it adopts the one that is there. */
  dispatch(request: DispatchRequest): Promise<{ readonly ref: string; readonly adopted: boolean }>;
  /** The run of a join whose dispatch was never answered; null when the provider has none. */
  find(request: DispatchRequest): Promise<string | null>;
  /** Null when the provider knows no such run. */
  snapshot(ref: string): Promise<Snapshot | null>;
  /** Lets it leave the call; nothing happens when it has left, or never was there. */
  leave(ref: string): Promise<void>;
  /** `pending`: there will be one. `none`: there will never be. */
  recording(ref: string): Promise<Recording | 'pending' | 'none'>;
  transcript(ref: string): Promise<readonly Segment[] | 'pending' | 'none'>;
  /** Lets the provider forget what it recorded, once it was captured; absent where it cannot be told. Nothing happens when it has forgotten. */
  erase?(ref: string): Promise<void>;
  /** What a webhook of the provider tells; null when it is not from the provider, whatever its bytes are. */
  verify(webhook: ProviderWebhook): ProviderEvent | null;
}

/** A webhook as received. */
export interface ProviderWebhook {
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** A hint that there is news of a run. */
export interface ProviderEvent {
  /** The provider's id of the event: the same for each repeat. */
  readonly id: string;
  /** Id of the join if the provider sends it; otherwise `ref` identifies it. Both are null for events that concern no run. */
  readonly joinId: string | null;
  readonly ref: string | null;
}

export interface DispatchRequest {
  /** The provider's key against a second notetaker. */
  readonly joinId: string;
  readonly meetingUrl: string;
  readonly platform: MeetingPlatform;
  readonly botName: string;
  /** How often it failed before: a provider that remembers refusals by key takes another one. */
  readonly tries: number;
}

export interface Recording {
  readonly title: string | null;
  readonly startedAt: Date | null;
  readonly durationSeconds: number | null;
  /** Participants as named by the provider. */
  readonly participants: readonly { readonly name: string | null; readonly email: string | null }[];
  /** Opens the file from its beginning each time it is called; null when there is none. Rejects with `NotetakerError`. */
  readonly open: (() => Promise<MediaFile>) | null;
}

export interface MediaFile {
  readonly contentType: string;
  /** Null when it is not known before the end. */
  readonly length: number | null;
  /** Read once; ends the transfer when it is left early. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Opens a link that a provider gave; it is dialled only where the address guard lets it. `headers` go to the link's own origin, to none that it redirects to.
 * Resolves with the first bytes there, rejects with `NotetakerError`.
 */
export type Download = (url: string, headers?: Readonly<Record<string, string>>) => Promise<MediaFile>;

/** Keeps the files of recordings, each under a key that nobody can guess. */
export interface MediaStore {
  /**
   * All of the file is there, in place of what was there before, or nothing of it. Faults of the file pass through, everything else rejects with `unavailable`.
   * Ends the transfer, also when it is left because of the signal.
   */
  put(key: string, file: MediaFile, signal: AbortSignal): Promise<void>;
  /** Also what puts that did not end have left. Nothing happens when there is none. */
  remove(key: string): Promise<void>;
}

/** A file that is kept whole. */
export interface StoredMedia {
  readonly contentType: string;
  readonly length: number;
  /** Names this very content, until the file is replaced. */
  readonly tag: string;
  /** From `start` on, up to and without `end`; opens the file when it is first read. */
  bytes(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** A store that serves its files through this service. */
export interface ServedMedia {
  /** Null when there is none, and for a key of another form. */
  find(key: string): Promise<StoredMedia | null>;
}

export interface Segment {
  /** Null when the provider did not recognize the speaker. */
  readonly speaker: string | null;
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** Why a provider did not do it. `transient`: the same call may pass later. `permanent`: it never will, and the join ends with `reason`. */
export class NotetakerError extends Error {
  readonly kind: 'transient' | 'permanent';
  readonly reason: string;
  readonly retryAfterSeconds: number | null;

  constructor(
    kind: NotetakerError['kind'],
    reason: string,
    options: { readonly retryAfterSeconds?: number; readonly cause?: unknown } = {},
  ) {
    super(`${kind} fault of the notetaker: ${reason}`, { cause: options.cause });
    this.name = 'NotetakerError';
    this.kind = kind;
    this.reason = reason;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

export interface Notetakers {
  /** The provider that serves the platform; null when none does. */
  forPlatform(platform: MeetingPlatform): Notetaker | null;
  /** Null when it is configured no more. */
  named(name: string): Notetaker | null;
}

export interface MeetingMetrics {
  /** A request was refused since this quota is spent. */
  quotaRefused(quota: Quota['kind']): void;
  /** Both are from short lists of ours. */
  providerCall(provider: string, outcome: string): void;
  /** `partly`: its video or transcript is lost; `lost`: both are, and there is no bubble. */
  captureEnded(outcome: 'captured' | 'partly' | 'lost'): void;
  /** A webhook came: kept, kept before, about no run, or without the provider's signature. */
  providerWebhook(provider: string, result: 'stored' | 'repeated' | 'ignored' | 'refused'): void;
}

/** The simulated provider, as an operator moves it. */
export interface Simulator {
  runs(): Promise<readonly SimulatedRun[]>;
  /** False when it has no run of that join. */
  report(joinId: string, report: SimulatedReport): Promise<boolean>;
  /** Erases links that came until `before`: of those joins that `erased` answers. */
  eraseLinks(before: Date, erased: (joinIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
}

export interface SimulatedRun {
  readonly joinId: string;
  /** Null when it was erased. */
  readonly meetingUrl: string | null;
  readonly requestedAt: Date;
  readonly leftAt: Date | null;
}

export interface SimulatedReport {
  /** Whether the recording has a file. */
  readonly hasVideo: boolean;
  readonly status: JoinStatus;
  readonly reason: string | null;
  readonly title: string | null;
  readonly participants: Recording['participants'];
  readonly segments: readonly Segment[] | null;
  readonly durationSeconds: number | null;
}
