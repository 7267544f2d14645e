import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import usual from '../../jest.config.mjs';

const root = join(import.meta.dirname, '../..');
/** Which tests run on the engine of `MONGODB_URL`, wherever they are. */
const READS_THE_ENGINE = /process\.env\['MONGODB_URL'\]|onEveryEngine/;
const onTheEngine = globSync('{shared,services,deploy}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }).filter((file) =>
  READS_THE_ENGINE.test(readFileSync(join(root, file), 'utf8')),
);
if (process.env.MONGODB_URL === undefined) throw new Error('MONGODB_URL is not set: npm run test:second-store');

/** The tests of the stores, on an engine that deviates from MongoDB where `deviations.ts` says so. */
export default {
  ...usual,
  rootDir: root,
  testEnvironment: join(import.meta.dirname, 'deviations.ts'),
  testMatch: [...onTheEngine.map((file) => `<rootDir>/${file}`), '<rootDir>/test/second-store/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
