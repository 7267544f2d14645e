import type { RequestListener } from 'node:http';

/** Stands before the handler of a service: can make every answer wait. */
export interface SwitchableHandler {
  readonly listener: RequestListener;
  /** From now on every request waits so long before it is served; 0 for not at all. */
  delay(ms: number): void;
}

export const switchableHandler = (handler: RequestListener): SwitchableHandler => {
  let delayMs = 0;
  return {
    listener: (req, res) => {
      if (delayMs === 0) return handler(req, res);
      setTimeout(handler, delayMs, req, res);
    },
    delay: (ms) => {
      delayMs = ms;
    },
  };
};
