interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

/** What is not there is required; zod would say that it received undefined. */
export const ISSUE_WORDING = {
  error: ({ code, input }: RawIssue): string | undefined => (code === 'invalid_type' && input === undefined ? 'is required' : undefined),
};
