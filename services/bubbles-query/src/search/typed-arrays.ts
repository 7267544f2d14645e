/**
 * Reads of cells that are known to be there: the compiler cannot see the bounds. One function for each kind of array, so that each stays fast.
 * Indexes are kept in shared memory, so that a thread hands over what it built without a copy.
 */
export const u8 = (cells: Uint8Array, index: number): number => cells[index] ?? 0;
export const u16 = (cells: Uint16Array, index: number): number => cells[index] ?? 0;
export const u32 = (cells: Uint32Array, index: number): number => cells[index] ?? 0;
export const f64 = (cells: Float64Array, index: number): number => cells[index] ?? 0;
export const num = (cells: readonly number[], index: number): number => cells[index] ?? 0;

interface ArrayKind<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: SharedArrayBuffer): T;
}
/** An array that threads share. */
export const shared = <T>(kind: ArrayKind<T>, length: number): T => new kind(new SharedArrayBuffer(length * kind.BYTES_PER_ELEMENT));

const FIRST_CAPACITY = 64;

/** A list of unsigned 32-bit numbers that grows. */
export const growingU32 = () => {
  let cells = new Uint32Array(FIRST_CAPACITY);
  let length = 0;
  return {
    push: (value: number): void => {
      if (length === cells.length) {
        const wider = new Uint32Array(length * 2);
        wider.set(cells);
        cells = wider;
      }
      cells[length++] = value;
    },
    length: (): number => length,
    at: (index: number): number => u32(cells, index),
    /** Valid until the next push. */
    view: (): Uint32Array => cells.subarray(0, length),
  };
};
export type GrowingU32 = ReturnType<typeof growingU32>;

/** A list of doubles that grows. */
export const growingF64 = () => {
  let cells = new Float64Array(FIRST_CAPACITY);
  let length = 0;
  return {
    push: (value: number): void => {
      if (length === cells.length) {
        const wider = new Float64Array(length * 2);
        wider.set(cells);
        cells = wider;
      }
      cells[length++] = value;
    },
    /** Valid until the next push. */
    view: (): Float64Array => cells.subarray(0, length),
  };
};
export type GrowingF64 = ReturnType<typeof growingF64>;

const VARINT_MAX_BYTES = 5;

/** Bytes that grow by numbers of variable length: seven bits in each byte, the high bit set on all but the last. */
export const growingVarints = () => {
  let cells = new Uint8Array(FIRST_CAPACITY);
  let length = 0;
  return {
    push: (value: number): void => {
      if (length + VARINT_MAX_BYTES > cells.length) {
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
    length: (): number => length,
    toShared: (): Uint8Array => {
      const bytes = shared(Uint8Array, length);
      bytes.set(cells.subarray(0, length));
      return bytes;
    },
  };
};

export const hasBit = (bits: Uint8Array, index: number): boolean => (u8(bits, index >>> 3) & (1 << (index & 7))) !== 0;

export const setBit = (bits: Uint8Array, index: number): void => {
  bits[index >>> 3] = u8(bits, index >>> 3) | (1 << (index & 7));
};
