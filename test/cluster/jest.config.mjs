/** A real control plane and a real node on this machine: README says what they take; test/cluster/build.sh builds them once. */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'cjs', 'json', 'node'],
  testMatch: ['<rootDir>/test/cluster/**/*.test.ts'],
  maxWorkers: 1,
  testTimeout: 10 * 60_000,
};
