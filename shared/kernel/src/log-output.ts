import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { pino } from 'pino';

/** Where log lines go. A line that cannot be written now is dropped and counted: a process neither waits for its log nor ends because of it. */
export interface LogOutput {
  write(line: string): void;
  /** How many lines were dropped since the start. */
  dropped(): number;
}

/** Writes a line at once, or answers false. Calls `lost` later when a line that was taken got lost. */
type Take = (line: string, lost: () => void) => boolean;

/** Bytes that may wait for a reader that does not read. */
const MAX_WAITING = 1024 * 1024;

type WriteSync = (fd: number, text: string) => number;

/** A write to a file never waits. On a full disk it writes a part of a line, or nothing. */
const ofFile = (fd: number, write: WriteSync): Take => {
  let torn = false;
  return (line) => {
    const text = torn ? `\n${line}` : line;
    try {
      const written = write(fd, text);
      if (written > 0) torn = written < Buffer.byteLength(text);
      return written > 0 && !torn;
    } catch {
      return false;
    }
  };
};

/** When too many bytes wait, no line is taken until all are read, so that there is one gap and not many. */
const ofStream = (stream: Writable): Take => {
  let isFull = false;
  // Each lost line is counted by its own callback.
  stream.on('error', () => undefined);
  return (line, lost) => {
    isFull = stream.writableLength > (isFull ? 0 : MAX_WAITING);
    if (isFull || stream.destroyed) return false;
    stream.write(line, (error) => error && lost());
    return true;
  };
};

const isRead = (fd: number): boolean => {
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isSocket() || isatty(fd);
};

/** For standard output or error. Files and devices are written past the stream, which would end with the first error. */
export const logOutput = (stream: Writable & { readonly fd?: number }, write: WriteSync = writeSync): LogOutput => {
  const take = stream.fd === undefined || isRead(stream.fd) ? ofStream(stream) : ofFile(stream.fd, write);
  let dropped = 0;
  let told = 0;
  const lost = () => {
    dropped += 1;
  };
  const tellGap = (): boolean => {
    if (dropped === told) return true;
    const line = `{"level":"warn"${pino.stdTimeFunctions.isoTime()},"dropped":${dropped - told},"message":"log lines dropped"}\n`;
    // The line about the gap is not counted as dropped itself.
    if (!take(line, () => undefined)) return false;
    told = dropped;
    return true;
  };
  return {
    write(line) {
      if (!tellGap() || !take(line, lost)) lost();
    },
    dropped: () => dropped,
  };
};
