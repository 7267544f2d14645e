import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

interface Deviation {
  readonly file: string;
  readonly test: string;
  /** What the engine does, and what MongoDB does instead. */
  readonly reason: string;
}

const INNER_BOUND = 'by an index of { a, b, c } it does not find a document whose b equals the bound of { a, b: { $lte } }; MongoDB does';

/** Where SecantusDB is not MongoDB. One that holds no longer, or whose test has another name, fails. */
const DEVIATIONS: readonly Deviation[] = [
  {
    file: 'services/webhooks-dispatcher/test/stores.test.ts',
    test: 'DeliveryStore on MongoDB what is due [DLV-06] is found of one subscription by itself',
    reason: INNER_BOUND,
  },
  {
    file: 'services/webhooks-dispatcher/test/stores.test.ts',
    test: 'DeliveryStore on MongoDB what is due is counted, with the oldest',
    reason: INNER_BOUND,
  },
];

/** What this needs of jest's own descriptions. */
interface Test {
  readonly type: 'test';
  readonly name: string;
  failing: boolean;
}
interface Block {
  readonly type: 'describeBlock';
  readonly name: string;
  readonly children: readonly (Block | Test)[];
}

const testsIn = function* (block: Block, above = ''): Generator<readonly [name: string, test: Test]> {
  for (const child of block.children) {
    const name = `${above}${child.name}`;
    if (child.type === 'test') yield [name, child];
    else yield* testsIn(child, `${name} `);
  }
};

/** Expects of each test that is named above that it fails. */
export default class extends TestEnvironment {
  readonly #known: readonly Deviation[];

  constructor(...[config, context]: ConstructorParameters<typeof TestEnvironment>) {
    super(config, context);
    for (const { file } of DEVIATIONS)
      if (!existsSync(join(config.projectConfig.rootDir, file))) throw new Error(`a deviation names a file that is not there: ${file}`);
    this.#known = DEVIATIONS.filter(({ file }) => context.testPath.endsWith(`/${file}`));
  }

  handleTestEvent({ name }: { readonly name: string }, { rootDescribeBlock }: { readonly rootDescribeBlock: Block }): void {
    if (name !== 'run_start') return;
    const tests = new Map(testsIn(rootDescribeBlock));
    for (const { test } of this.#known) {
      const found = tests.get(test);
      if (found === undefined) throw new Error(`a deviation names a test that is not there: ${test}`);
      found.failing = true;
    }
  }
}
