/**
 * One run at a time; every call waits for a run that began after the call, and those that wait share it. So what was written before a call is
 * seen by it, however many call at once.
 */
export const freshRuns = (run: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | null = null;
  let queued: Promise<void> | null = null;
  const start = (): Promise<void> => {
    running = run().finally(() => {
      running = null;
    });
    return running;
  };
  const startQueued = (): Promise<void> => {
    queued = null;
    return start();
  };
  return () => {
    if (queued !== null) return queued;
    if (running === null) return start();
    queued = running.then(startQueued, startQueued);
    return queued;
  };
};
