import type { Log, LogFields } from '@bubbles/kernel/log.ts';

interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

export interface MemoryLog extends Log {
  /** Everything that was logged, children included, oldest first. */
  readonly lines: readonly LogLine[];
}

/** Keeps what is logged and prints nothing. */
export function memoryLog(bound: LogFields = {}, lines: LogLine[] = []): MemoryLog {
  const keep =
    (level: LogLine['level']) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields: { ...bound, ...fields } });
    };
  return {
    lines,
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    child: (fields) => memoryLog({ ...bound, ...fields }, lines),
  };
}
