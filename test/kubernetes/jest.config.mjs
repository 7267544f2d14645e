/** The manifests of a cluster, as kubectl renders them: wants kubectl and kubernetes-validate. */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'cjs', 'json', 'node'],
  testMatch: ['<rootDir>/test/kubernetes/**/*.test.ts'],
  maxWorkers: 2,
  testTimeout: 120_000,
};
