import { DomainError } from '@bubbles/kernel/errors.ts';
import { captured, type Join, postponed, workedOff } from '../domain/join.ts';
import { retryMs } from '../domain/watchdog.ts';
import type { Access, CapturedRecording, Notetaker, Participant, Recording, RecordingCaptured, Segment, UserAccess } from '../ports.ts';
import { asked, isNotetakerError, type WorkPorts } from './work.ts';

interface CapturePorts extends Pick<WorkPorts, 'joins' | 'notetakers' | 'clock' | 'log'> {
  readonly access: Access;
  readonly recordingCaptured: RecordingCaptured;
}

/** As long as providers keep a recording. */
const RETENTION_MS = 72 * 3_600_000;

const isMember = (user: UserAccess | undefined, teamId: string): boolean => user?.memberships.some((one) => one.teamId === teamId) ?? false;

/** Requesters first, then the people that the provider names: members of the team by their address, everybody else as a person without an account. */
const participantsOf = async (access: Access, { requesterIds, teamId }: Join, named: Recording['participants']): Promise<Participant[]> => {
  const emails = named.flatMap(({ email }) => email ?? []);
  const { users, byEmail } = await access.ask({ userIds: requesterIds, emails });
  const found = new Map<string, Participant>();
  for (const userId of requesterIds)
    found.set(userId, { userId, name: null, email: null, isExternal: !isMember(users.get(userId), teamId) });
  for (const { name, email } of named) {
    const user = email === null ? undefined : byEmail.get(email);
    const userId = user?.active && isMember(user, teamId) ? user.id : null;
    const key = userId ?? JSON.stringify([name, email]);
    if (userId === null || !found.has(userId) || found.get(userId)?.name === null)
      found.set(key, { userId, name, email, isExternal: userId === null });
  }
  return [...found.values()];
};

/** Makes a bubble of the recording of a join that is done. A process that dies here leaves the join to the next, which makes the same bubble. */
export const captureRecording = ({ joins, notetakers, access, clock, log, recordingCaptured }: CapturePorts) => {
  const end = (claimed: Join, change: (join: Join) => { readonly state: Join; readonly recording?: CapturedRecording }) =>
    joins.update(claimed.id, (join) => {
      if (join.leaseToken !== claimed.leaseToken) return null;
      const { state, recording } = change(join);
      return { state, events: recording === undefined ? [] : [recordingCaptured(state, recording)] };
    });

  const giveUp = (join: Join, why: string) => {
    log.warn('recording not captured', { joinId: join.id, provider: join.provider, why });
    return end(join, (before) => ({ state: workedOff(before, clock.now()) }));
  };
  const later = (join: Join, retryAfterSeconds: number | null) => {
    const now = clock.now();
    if (now.getTime() - join.updatedAt.getTime() >= RETENTION_MS) return giveUp(join, 'not available within its retention');
    const dueAt = new Date(now.getTime() + retryMs(join.tries, retryAfterSeconds));
    return end(join, (before) => ({ state: postponed(before, dueAt) }));
  };

  const capture = async (join: Join, recording: Recording, segments: readonly Segment[] | null): Promise<void> => {
    const participants = await participantsOf(access, join, recording.participants);
    const [author] = participants;
    if (author === undefined) throw new DomainError('internal', 'A join has no requester.');
    const { title, startedAt, durationSeconds } = recording;
    const told = { title, startedAt, durationSeconds, author, participants, segments };
    await end(join, (before) => ({ state: captured(before, clock.now()), recording: told }));
  };

  const attempt = async (join: Join, notetaker: Notetaker, ref: string): Promise<unknown> => {
    const recording = await asked(notetaker.recording(ref));
    if (recording === 'none') return giveUp(join, 'the provider has no recording');
    const transcript = recording === 'pending' ? 'pending' : await asked(notetaker.transcript(ref));
    if (recording === 'pending' || transcript === 'pending') return later(join, null);
    return capture(join, recording, transcript === 'none' ? null : transcript);
  };

  return async (join: Join): Promise<void> => {
    const notetaker = join.provider === null ? null : notetakers.named(join.provider);
    if (notetaker === null || join.providerRef === null) {
      await later(join, null);
      return;
    }
    try {
      await attempt(join, notetaker, join.providerRef);
    } catch (error) {
      if (!isNotetakerError(error)) throw error;
      if (error.kind === 'permanent') await giveUp(join, error.reason);
      else await later(join, error.retryAfterSeconds);
    }
  };
};
