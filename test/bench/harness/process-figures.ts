import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
const PAGE_KB = 1024;
/** Positions in `/proc/<pid>/stat` behind the name of the process, which may hold blanks. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** CPU time of a process so far, user and system. */
export const cpuMsOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * 1000) / TICKS_PER_SECOND;
};

export interface Memory {
  /** Everything that is resident. */
  readonly rssMb: number;
  /** Pages that are shared count in proportion. */
  readonly pssMb: number;
  /** Pages that nobody else has. */
  readonly privateMb: number;
}

export const memoryOf = (pid: number): Memory => {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? Number.NaN) / PAGE_KB;
  return { rssMb: mb('Rss'), pssMb: mb('Pss'), privateMb: mb('Private_Clean') + mb('Private_Dirty') };
};

export const openFilesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
