import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { pino } from 'pino';

/** Where log lines go. A line that cannot be taken now is dropped and counted: no process waits for its log, or ends with it. */
export interface LogOutput {
  write(line: string): void;
  /** How many lines were dropped since the start. */
  dropped(): number;
}

/** Takes a line at once or not at all, and tells later when it was lost all the same. */
type Take = (line: string, lost: () => void) => boolean;

/** What a reader that is away may let gather, by bytes. */
const MAX_WAITING = 1024 * 1024;

type WriteSync = (fd: number, text: string) => number;

/** A file never keeps a writer waiting; when its disk is full it takes a part of a line, or nothing. */
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

/** After too much has gathered, nothing is taken until all of it is read: the gap is one, and whole. */
const ofStream = (stream: Writable): Take => {
  let isFull = false;
  // Each line that it loses tells of the same error.
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

/** `stream` is standard output or standard error; what a file or a device takes is written past it, since it would end with the first error. */
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
    // Counted as told only when it is, and not itself when it is not.
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
