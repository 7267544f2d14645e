/** One answered request; `route` is the template, so that the number of series is bounded. */
export interface ServedRequest {
  readonly service: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface HttpMetrics {
  served(request: ServedRequest): void;
}
