/** How an attempt ended, in the words of log and metrics. */
export type Outcome =
  | '2xx'
  | '3xx'
  | '4xx'
  | '429'
  | '5xx'
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'blocked_address'
  | 'reset'
  | 'protocol'
  | 'worker_lost';

export interface AttemptResult {
  readonly outcome: Outcome;
  /** The receiver's status, null when it gave none. */
  readonly status: number | null;
  /** Wall time of the attempt, milliseconds. */
  readonly tookMs: number;
  /** The first characters of the receiver's answer, null when it gave none. */
  readonly preview: string | null;
  /** Why, in words for the owner; null where status and answer say it. */
  readonly detail: string | null;
}

export const outcomeOf = (status: number): Outcome => {
  if (status === 429) return '429';
  if (status < 200) return 'protocol';
  if (status < 300) return '2xx';
  if (status < 400) return '3xx';
  return status < 500 ? '4xx' : '5xx';
};
