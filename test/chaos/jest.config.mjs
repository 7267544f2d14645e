/** What breaks things: one file after the other, since each has the machine's engines to itself. */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'cjs', 'json', 'node'],
  testMatch: ['<rootDir>/test/chaos/**/*.test.ts'],
  maxWorkers: 1,
  // What hangs ends before, in its step, and says so; what is slow need not end.
  testTimeout: (process.env['CHAOS'] === 'long' ? 30 : 5) * 60_000,
};
