/**
 * Cells of arrays that are known to be there: the compiler cannot see the bounds. One function a kind, so that each stays fast.
 * What indexes keep lies in shared memory: a thread builds it and nothing is copied.
 */
export const u8 = (cells: Uint8Array, index: number): number => cells[index] ?? 0;
export const u16 = (cells: Uint16Array, index: number): number => cells[index] ?? 0;
export const u32 = (cells: Uint32Array, index: number): number => cells[index] ?? 0;
export const f64 = (cells: Float64Array, index: number): number => cells[index] ?? 0;
export const num = (cells: readonly number[], index: number): number => cells[index] ?? 0;

export const sharedU8 = (length: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(length));
export const sharedU16 = (length: number): Uint16Array => new Uint16Array(new SharedArrayBuffer(length * 2));
export const sharedU32 = (length: number): Uint32Array => new Uint32Array(new SharedArrayBuffer(length * 4));
export const sharedF64 = (length: number): Float64Array => new Float64Array(new SharedArrayBuffer(length * 8));

const FIRST_CAPACITY = 64;

/** A list of unsigned 32-bit numbers that grows. */
export interface GrowingWords {
  readonly push: (value: number) => void;
  readonly length: () => number;
  readonly at: (index: number) => number;
  /** A view, valid until the next push. */
  readonly view: () => Uint32Array;
}

export const growingWords = (): GrowingWords => {
  let cells = new Uint32Array(FIRST_CAPACITY);
  let length = 0;
  return {
    push: (value) => {
      if (length === cells.length) {
        const wider = new Uint32Array(length * 2);
        wider.set(cells);
        cells = wider;
      }
      cells[length++] = value;
    },
    length: () => length,
    at: (index) => u32(cells, index),
    view: () => cells.subarray(0, length),
  };
};

/** A list of doubles that grows. */
export interface GrowingNumbers {
  readonly push: (value: number) => void;
  readonly view: () => Float64Array;
}

export const growingNumbers = (): GrowingNumbers => {
  let cells = new Float64Array(FIRST_CAPACITY);
  let length = 0;
  return {
    push: (value) => {
      if (length === cells.length) {
        const wider = new Float64Array(length * 2);
        wider.set(cells);
        cells = wider;
      }
      cells[length++] = value;
    },
    view: () => cells.subarray(0, length),
  };
};

/** Bytes that grow by numbers of seven bits a byte, the high bit on all but the last. */
export interface GrowingBytes {
  readonly pushNumber: (value: number) => void;
  readonly length: () => number;
  readonly toShared: () => Uint8Array;
}

export const growingBytes = (): GrowingBytes => {
  let cells = new Uint8Array(FIRST_CAPACITY);
  let length = 0;
  const room = 5;
  return {
    pushNumber: (value) => {
      if (length + room > cells.length) {
        const wider = new Uint8Array(cells.length * 2);
        wider.set(cells);
        cells = wider;
      }
      let rest = value;
      while (rest > 0x7f) {
        cells[length++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      cells[length++] = rest;
    },
    length: () => length,
    toShared: () => {
      const shared = sharedU8(length);
      shared.set(cells.subarray(0, length));
      return shared;
    },
  };
};

/** A set of ordinals as bits. */
export const isMarked = (bits: Uint8Array, index: number): boolean => (u8(bits, index >>> 3) & (1 << (index & 7))) !== 0;

export const mark = (bits: Uint8Array, index: number): void => {
  bits[index >>> 3] = u8(bits, index >>> 3) | (1 << (index & 7));
};
