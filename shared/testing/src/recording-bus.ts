import { type Bus, BusUnavailable, type CloudEvent } from '@bubbles/bus/bus.ts';

export interface RecordingBus extends Bus {
  /** Every published event in order, repetitions included. */
  readonly published: readonly CloudEvent[];
  /** While it answers false for an event, publishing it fails. */
  admit(test: (event: CloudEvent) => boolean): void;
}

/** A broker without consumers. */
export function recordingBus(): RecordingBus {
  const published: CloudEvent[] = [];
  let admits: (event: CloudEvent) => boolean = () => true;
  return {
    published,
    admit(test) {
      admits = test;
    },
    publish(_definition, event) {
      if (!admits(event)) return Promise.reject(new BusUnavailable('The broker is away.'));
      published.push(event);
      return Promise.resolve();
    },
    consume: () => Promise.resolve(),
    state: () => ({ isConnected: true, faults: [], consumers: [] }),
    deadLetterCounts: () => Promise.resolve(new Map()),
    check: () => Promise.resolve(),
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
