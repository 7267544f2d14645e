interface TrafficOptions {
  /** Requests in flight at which a caller may hold no more than its share. */
  readonly limit: number;
  /** How many requests a service is given at once. */
  readonly placesOf: (service: string) => number;
  /** False: no service is taken for overloaded. */
  readonly sheds: boolean;
  /** Has the caller a credential that was good when it came last? One attacker may have many networks, but few credentials. */
  readonly isKnown: (caller: string) => boolean;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
}

/** Who asks which service; null for a page of the gateway or an unknown path. */
interface Asked {
  readonly caller: string;
  readonly service: string | null;
  /** The event loop is late. */
  readonly isLate: boolean;
}

/** A request in flight. One that may not enter is to be refused at once, and is in flight until its answer is out. */
interface Passage {
  readonly mayEnter: boolean;
  /** Once. */
  leave(): void;
}

/** What a request asks of a service, without the time in which the gateway waits for its client. */
export interface Demand {
  begin(): void;
  /** Does nothing when it has not begun. `answered`: by the service, or for it. */
  end(answered: boolean): void;
}

/**
 * The requests in flight. What cannot be served in time is refused before any work: above the limit those of a caller with more than its share, and while the
 * event loop is late or a service is overloaded those of a caller with more than half of what callers have on average. Where all ask for as much that is
 * everybody; a caller who asks for little comes in beside those who flood. Known callers may have half of
 * the limit beside it, in which each has its share: a flood from many networks does not keep them out.
 */
export class Traffic {
  readonly #all: Crowd;
  readonly #services = new Map<string, ServiceTraffic>();
  readonly #options: TrafficOptions;
  #idle: PromiseWithResolvers<void> | null = null;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#all = new Crowd(options.isKnown);
  }

  get inFlight(): number {
    return this.#all.size;
  }

  enter({ caller, service, isLate }: Asked): Passage {
    const { limit, sheds, nowMs } = this.#options;
    const isRefused =
      (this.#all.size >= limit && this.#all.wouldExceedShare(caller, limit)) ||
      (isLate && this.#all.wouldAskForMuch(caller)) ||
      (sheds && service !== null && this.#of(service).refuses(caller, nowMs()));
    this.#all.add(caller);
    const leave = (): void => {
      this.#all.remove(caller);
      if (this.#all.size > 0) return;
      this.#idle?.resolve();
      this.#idle = null;
    };
    return { mayEnter: !isRefused, leave };
  }

  demand(caller: string, service: string): Demand {
    const { nowMs } = this.#options;
    const asked = this.#of(service);
    let isCounted = false;
    return {
      begin: () => {
        isCounted = true;
        asked.crowd.add(caller);
      },
      end: (answered) => {
        if (!isCounted) return;
        isCounted = false;
        asked.crowd.remove(caller);
        if (answered) asked.answered(nowMs());
      },
    };
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    if (this.#all.size === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  #of(service: string): ServiceTraffic {
    const known = this.#services.get(service);
    if (known !== undefined) return known;
    const { placesOf, nowMs, isKnown } = this.#options;
    const made = new ServiceTraffic(new Crowd(isKnown), () => placesOf(service), nowMs());
    this.#services.set(service, made);
    return made;
  }
}

/** Requests in flight, by caller. */
class Crowd {
  size = 0;
  readonly #held = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #isKnown: (caller: string) => boolean;

  constructor(isKnown: (caller: string) => boolean) {
    this.#isKnown = isKnown;
  }

  add(caller: string): void {
    this.size += 1;
    this.#held.set(caller, (this.#held.get(caller) ?? 0) + 1);
    if (this.#isKnown(caller)) this.#known.add(caller);
  }

  remove(caller: string): void {
    const rest = (this.#held.get(caller) ?? 0) - 1;
    this.size -= 1;
    if (rest > 0) {
      this.#held.set(caller, rest);
      return;
    }
    this.#held.delete(caller);
    this.#known.delete(caller);
  }

  /** With one request more, has the caller more than its share of `total`, and a known one more than its share of half of it among such callers? */
  wouldExceedShare(caller: string, total: number): boolean {
    const held = this.#held.get(caller) ?? 0;
    const exceeds = (part: number, callers: number): boolean => held + 1 > part / (callers + (held === 0 ? 1 : 0));
    return exceeds(total, this.#held.size) && (!this.#isKnown(caller) || exceeds(total / 2, this.#known.size));
  }

  /** With one request more, has the caller more than half of what callers have on average? */
  wouldAskForMuch(caller: string): boolean {
    return this.wouldExceedShare(caller, (this.size + 1) / 2);
  }
}

/** Requests that are in flight while a service is overloaded are answered after about this time. */
const TARGET_MS = 100;
/** What is over sooner is a burst or a hiccup of the service, and waits for its turn. What comes again sooner is the same overload. */
const LASTING_MS = 500;
const RATE_WINDOW_MS = 50;
/** A service that answers nobody for so long has stopped for a moment, and is not overloaded: what waits for it has time limits of its own. */
const STOPPED_MS = 50;

/**
 * What is asked of a service. It is overloaded when for some time more has been in flight than it has places for, and than it answers in the target time:
 * by Little's law the requests in flight are the answers a second times the time that each takes.
 */
class ServiceTraffic {
  readonly crowd: Crowd;
  readonly #places: () => number;
  #windowSince: number;
  #answeredInWindow = 0;
  #answeredPerMs = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #exceededSince = Number.NEGATIVE_INFINITY;
  #exceededAt = Number.NEGATIVE_INFINITY;

  constructor(crowd: Crowd, places: () => number, now: number) {
    this.crowd = crowd;
    this.#places = places;
    this.#windowSince = now;
  }

  answered(now: number): void {
    this.#answeredAt = now;
    this.#answeredInWindow += 1;
  }

  refuses(caller: string, now: number): boolean {
    return this.#isOverloaded(now) && this.crowd.wouldAskForMuch(caller);
  }

  #isOverloaded(now: number): boolean {
    this.#measure(now);
    const isWithin = this.crowd.size < Math.max(this.#places(), this.#answeredPerMs * TARGET_MS);
    if (isWithin || now - this.#answeredAt > STOPPED_MS) return false;
    if (now - this.#exceededAt > LASTING_MS) this.#exceededSince = now;
    this.#exceededAt = now;
    return now - this.#exceededSince > LASTING_MS;
  }

  #measure(now: number): void {
    const elapsed = now - this.#windowSince;
    if (elapsed < RATE_WINDOW_MS) return;
    this.#answeredPerMs = this.#answeredInWindow / elapsed;
    this.#answeredInWindow = 0;
    this.#windowSince = now;
  }
}
