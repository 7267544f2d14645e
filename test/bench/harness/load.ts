import { type Child, startChild } from './children.ts';

export interface LoadRequest {
  /** GET when absent. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Load {
  readonly origin: string;
  /** Taken in turn. */
  readonly requests: readonly LoadRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second, whatever the answers do (open loop); without it each connection sends its next request after the answer. */
  readonly rate?: number;
}

export interface LoadFigures {
  readonly answered: number;
  /** Answers other than 2xx, by status; 0 for a connection that broke. */
  readonly others: Readonly<Record<string, number>>;
  readonly perSecond: number;
  /** Milliseconds of the 2xx answers; with a rate from when the request was due. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly refusedP99: number;
  readonly bytes: number;
  readonly seconds: number;
}

export interface LoadGenerator {
  run(load: Load): Promise<LoadFigures>;
  stop(): Promise<void>;
}

export const startLoadGenerator = async (core: 'rest' | 'any' = 'any'): Promise<LoadGenerator> => {
  const child: Child<unknown> = await startChild({ module: 'processes/load-generator.ts', core });
  return { run: (load) => child.ask<LoadFigures>(load), stop: () => child.stop() };
};
