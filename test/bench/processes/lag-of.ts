/** What has come to a receiver since it was asked last. */
export interface Received {
  readonly answered: number;
  /** Milliseconds from the telling of a bubble to its POST. */
  readonly lags: readonly number[];
}

const SENT_AT = /"title":"([\d.]+)"/;

/** Milliseconds since the bubble of a delivery was told of, which is its title; null for another body. The clock is that of all processes of this machine. */
export const lagOf = (body: Buffer): number | null => {
  const [, sentAt] = SENT_AT.exec(body.toString('latin1')) ?? [];
  return sentAt === undefined ? null : performance.timeOrigin + performance.now() - Number(sentAt);
};
