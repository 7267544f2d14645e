import type { RequestHead } from '../domain/request-head.ts';

/** Bounds what all bodies together may occupy. */
export interface BodyMemory {
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

export const bodyMemory = (maxBytes: number): BodyMemory => {
  let reserved = 0;
  return {
    reserve: (bytes) => {
      if (reserved + bytes > maxBytes) return false;
      reserved += bytes;
      return true;
    },
    release: (bytes) => {
      reserved -= bytes;
    },
  };
};

/** A chunked body does not tell. */
export const declaredSize = ({ contentLength }: RequestHead, unknown: number): number =>
  contentLength === null ? unknown : Number(contentLength);
