/** The images of the product, built and run as a cluster would: wants podman and buildah, and root. */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'cjs', 'json', 'node'],
  testMatch: ['<rootDir>/test/images/**/*.test.ts'],
  maxWorkers: 1,
  // What hangs ends before, in its step, and says so; what is slow need not end.
  testTimeout: 10 * 60_000,
};
