import type { RequestListener } from 'node:http';
import type { Ids } from '../ids.ts';
import { envelope, INTERNAL_ERROR_MESSAGE } from './http-errors.ts';

/** Stands before the handler of a service: refuses until it has started, and can make every answer wait. */
export interface SwitchableHandler {
  readonly listener: RequestListener;
  open(): void;
  /** From now on every request waits so long before it is served; 0 for not at all. */
  delay(ms: number): void;
}

export const switchableHandler = (handler: RequestListener, ids: Ids): SwitchableHandler => {
  let opened = false;
  let delayMs = 0;
  const serve: RequestListener = (req, res) => {
    if (opened) return handler(req, res);
    res.writeHead(500, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': ids.uuid(),
      'Retry-After': '1',
    });
    res.end(envelope('internal_error', INTERNAL_ERROR_MESSAGE));
  };
  return {
    listener: (req, res) => {
      if (delayMs === 0) return serve(req, res);
      setTimeout(serve, delayMs, req, res);
    },
    open: () => {
      opened = true;
    },
    delay: (ms) => {
      delayMs = ms;
    },
  };
};
