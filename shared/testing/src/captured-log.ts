import { createLog, type Log, type LogOptions } from '@bubbles/kernel/log.ts';

export interface CapturedLog {
  readonly log: Log;
  /** The lines as they would be written. */
  readonly text: () => string;
  readonly lines: () => readonly Readonly<Record<string, unknown>>[];
}

/** The real log, its lines kept. */
export const capturedLog = (options: Pick<LogOptions, 'nowMs'> = {}): CapturedLog => {
  let text = '';
  const destination = {
    write: (line: string) => {
      text += line;
    },
  };
  return {
    log: createLog({ name: 'tested-service', level: 'debug', destination, ...options }),
    text: () => text,
    lines: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
};
