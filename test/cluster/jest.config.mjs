/** A real control plane on this machine: wants kubectl, openssl, and Go to build it once (test/cluster/build.sh). */
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
