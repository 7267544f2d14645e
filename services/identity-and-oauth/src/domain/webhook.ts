/** A webhook subscription of the account. The dispatcher owns it; this is what pages show of it. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Why it is sent nothing; null while it is active. */
  readonly disabledBecause: string | null;
  readonly succeededAt: Date | null;
  readonly failedAt: Date | null;
}

/** One event on its way to the receiver of a subscription. */
export interface DeliveryLogEntry {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  /** Why it is not sent; null when it is or was. */
  readonly cancelledBecause: string | null;
  readonly madeAt: Date;
  readonly nextTryAt: Date | null;
  /** Oldest first. */
  readonly tries: readonly DeliveryTry[];
}

export interface DeliveryTry {
  readonly at: Date;
  readonly tookMs: number;
  /** Such as `2xx` or `timeout`. */
  readonly outcome: string;
  /** What the receiver answered; null when it gave no answer. */
  readonly httpStatus: number | null;
  readonly detail: string | null;
}

/** A page of a list that the dispatcher orders; `next` names the one after it. */
export interface Listed<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}
