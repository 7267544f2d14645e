/** Pages in a real browser: one file after the other, since each has a browser and a sandbox of its own. */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'cjs', 'json', 'node'],
  testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
  maxWorkers: 1,
  // What hangs ends before, in its step, and says so; what is slow need not end.
  testTimeout: 120_000,
};
