/** What waits, by caller. Callers take turns, so that the crowd of one delays nobody but itself. */
export class FairQueue<T> {
  size = 0;
  /** In order of turns: a caller that was served goes to the end. */
  readonly #waiting = new Map<string, Set<T>>();

  push(caller: string, item: T): void {
    const items = this.#waiting.get(caller) ?? new Set();
    this.#waiting.set(caller, items.add(item));
    this.size += 1;
  }

  /** The next item of the first caller in turn that `mayGo`; null when none may. */
  shift(mayGo?: (caller: string) => boolean): T | null {
    for (const [caller, items] of this.#waiting) {
      if (mayGo !== undefined && !mayGo(caller)) continue;
      for (const item of items) {
        items.delete(item);
        this.size -= 1;
        this.#waiting.delete(caller);
        if (items.size > 0) this.#waiting.set(caller, items);
        return item;
      }
    }
    return null;
  }

  /** Does nothing when the item does not wait any more. */
  remove(caller: string, item: T): void {
    const items = this.#waiting.get(caller);
    if (items === undefined || !items.delete(item)) return;
    this.size -= 1;
    if (items.size === 0) this.#waiting.delete(caller);
  }

  each(act: (item: T) => void): void {
    for (const items of this.#waiting.values()) for (const item of items) act(item);
  }
}
