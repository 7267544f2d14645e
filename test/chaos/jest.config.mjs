/** What breaks things: one file after the other, since each has the machine's engines to itself. */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'cjs', 'json', 'node'],
  testMatch: ['<rootDir>/test/chaos/**/*.test.ts'],
  maxWorkers: 1,
  testTimeout: 15 * 60_000,
};
