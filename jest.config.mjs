import { availableParallelism } from 'node:os';

/** Jest strips the types itself; everything runs as native ESM. */
export default {
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'cjs', 'json', 'node'],
  coverageProvider: 'babel',
  // No test asserts how long it takes; a busy machine must not fail one. What is still running by then hangs.
  testTimeout: 300_000,
  // A file waits much of its time, for sockets and processes: also two cores are better used by two.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/test/contract/',
    '/test/chaos/',
    '/test/e2e/',
    '/test/images/',
    '/test/bench/',
    '/test/kubernetes/',
    '/test/cluster/',
    '/test/second-store/',
  ],
};
