interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

const OF_ABSENCE: ReadonlySet<string | undefined> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

/** What is not there is required; zod would say that undefined is of the wrong type. */
export const ISSUE_WORDING = {
  error: ({ code, input }: RawIssue): string | undefined => (input === undefined && OF_ABSENCE.has(code) ? 'is required' : undefined),
};
