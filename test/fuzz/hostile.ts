import fc from 'fast-check';

/** Texts that have broken somebody's parser, store or page before. */
const TEXTS = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e309',
    'NaN',
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '%',
    '%00',
    '%zz',
    '\u0000',
    '\r\n',
    '\ud800',
    '\ufeff',
    '\u202e',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '$where',
    '{"$gt":""}',
    '$ne',
    "' OR 1=1--",
    '../../etc/passwd',
    '..%2f..%2f',
    '<script>',
    '#{7*7}',
  ],
  ...[
    'wh_',
    'ext_',
    'svc_pat_',
    'dlv_',
    '٢٥',
    '🎈'.repeat(70),
    'x'.repeat(3000),
    'e\u0301'.repeat(50),
    '2026-02-30T00:00:00Z',
    'a,b',
    'a;b',
    'a&b=c',
  ],
];
export const hostileText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 400 }) },
);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, 0, -1, 1.5, 1e21, -0, [], {}, [null], [[[]]], { $gt: '' }, { $where: '1' }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ constructor: { prototype: { x: 1 } } }, JSON.parse('{"__proto__":{"x":1}}'), Array(2000).fill('a')),
  },
);

/** A body that is no JSON, or hardly. */
export const hostileBody = fc.oneof(
  fc.constantFrom(
    '',
    '{',
    '{}x',
    '[]',
    'null',
    '"a"',
    '{"name":"a","name":"b"}',
    '\ufeff{}',
    `${'['.repeat(5000)}`,
    `{"a":${'1'.repeat(400)}}`,
    '{"url":1e999}',
  ),
  fc.string({ maxLength: 60 }),
  fc.json(),
);

/** A value of a header as fetch lets it through. */
export const headerText = fc.string({ unit: fc.constantFrom(...'abz09 %/\\.;:?&=+[]{}"<>|^`~@!$*()_-#,é'), maxLength: 60 });

/** What no browser sends with a form of ours. */
export const strangeHeaders = fc.record(
  {
    'content-type': fc.constantFrom(
      'text/plain',
      'application/json',
      'multipart/form-data',
      'application/x-www-form-urlencoded; charset=utf-16',
    ),
    'sec-fetch-site': fc.constantFrom('cross-site', 'same-site', 'same-origin', 'none', 'x'),
    origin: fc.constantFrom('https://evil.test', 'null', 'x'),
    cookie: fc
      .oneof(headerText, fc.constantFrom('session=a; session=b', '__Host-session=x', 'session="a"', 'session='))
      .map((text) => text.trim().replaceAll('é', 'e')),
    authorization: headerText.map((text) => text.replaceAll('é', 'e')),
  },
  { requiredKeys: [] },
);
