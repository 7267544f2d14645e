import { parser } from '@prometheus-io/lezer-promql';

interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

interface Selector {
  readonly name: string;
  readonly matchers: readonly Matcher[];
}

/** What a query names. */
export interface Query {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `on`, `ignoring`, `group_left` and the like. */
  readonly grouping: readonly string[];
}

type Node = ReturnType<typeof parser.parse>['topNode'];

const nodesIn = (node: Node, name: string): readonly Node[] => [
  ...(node.name === name ? [node] : []),
  ...childrenOf(node).flatMap((child) => nodesIn(child, name)),
];
const childrenOf = (node: Node): readonly Node[] => {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
};

/** Throws where the text is no PromQL. */
export const readQuery = (text: string): Query => {
  const root = parser.parse(text).topNode;
  const textOf = (node: Node | null | undefined): string => (node ? text.slice(node.from, node.to) : '');
  const [fault] = nodesIn(root, '⚠');
  if (fault !== undefined) throw new Error(`not PromQL at ${fault.from}: ${text}`);
  const selectors = nodesIn(root, 'VectorSelector').map((selector) => ({
    name: textOf(nodesIn(selector, 'Identifier')[0]),
    matchers: nodesIn(selector, 'UnquotedLabelMatcher').map((matcher) => {
      const [label, operator, value] = childrenOf(matcher).map(textOf);
      return { label: label ?? '', operator: operator ?? '', value: (value ?? '').slice(1, -1) };
    }),
  }));
  const grouping = nodesIn(root, 'GroupingLabels').flatMap((labels) => nodesIn(labels, 'LabelName').map(textOf));
  return { selectors, grouping };
};
