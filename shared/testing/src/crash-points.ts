/** The process died: nothing that is called afterwards happens. */
class ProcessDied extends Error {
  constructor() {
    super('The process died.');
    this.name = 'ProcessDied';
  }
}

export interface CrashPoints {
  /** The same port, on which every call to one of `methods` is two steps: before it happens, and after it happened but before it is answered. */
  watch<P extends object>(port: P, methods: readonly (keyof P & string)[]): P;
  /** How many steps were taken. */
  steps(): number;
}

/** Dies at step `dieAt`, counted from 1; from then on everything watched is dead. */
export const crashPoints = (dieAt = Number.POSITIVE_INFINITY): CrashPoints =>
  watchedSteps((step) => {
    if (step >= dieAt) throw new ProcessDied();
  });

/** Fails at step `failAt`, counted from 1, with this error; all goes well before and after it. */
export const faultPoints = (failAt: number, error: () => Error): CrashPoints =>
  watchedSteps((step) => {
    if (step === failAt) throw error();
  });

function watchedSteps(at: (step: number) => void): CrashPoints {
  let taken = 0;
  const step = () => {
    taken += 1;
    at(taken);
  };
  return {
    steps: () => taken,
    watch(port, methods) {
      const watched = Object.fromEntries(
        methods.map((name) => {
          const method: unknown = port[name];
          const call = async (...args: unknown[]): Promise<unknown> => {
            step();
            const result: unknown = typeof method === 'function' ? await method.apply(port, args) : undefined;
            step();
            return result;
          };
          return [name, call];
        }),
      );
      return { ...port, ...watched };
    },
  };
}
