import { describe } from '@jest/globals';

/**
 * Tests that need what only the sandbox has: its clock, its mail, services that are taken down. They are there when the run is against it. A file of
 * nothing else is named `*.sandbox.test.ts`.
 */
export const onSandbox = (name: string, tests: () => void): void => {
  if (process.env['STACK_URL'] === undefined) describe(name, tests);
};
