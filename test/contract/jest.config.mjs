import base from '../../jest.config.mjs';

/** Pact files are written in place: run in band (`main.ts` does). */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/test/contract/**/*.test.ts',
    '<rootDir>/test/contract/**/*.consumer.ts',
    '<rootDir>/test/contract/**/*.provider.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/'],
};
