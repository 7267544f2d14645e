import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { verifyAttendeeWebhook } from './attendee-webhook.ts';

const SECRET = Buffer.from('AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', 'base64');
/** As Attendee sends it. */
const WIRE =
  '{"idempotency_key": "6f1c2a34-0000-4000-8000-000000000001", "bot_id": "bot_TestVector000001", "bot_metadata": {"join_id": "mj_01"}, "trigger": "bot.state_change", "data": {"new_state": "ended", "old_state": "post_processing", "created_at": "2026-11-27T10:00:00.123456+00:00", "event_type": "post_processing_completed", "event_sub_type": null, "event_metadata": {"bot_duration_seconds": 61, "credits_consumed": 2.0, "note": "caf\\u00e9"}}}';
const SIGNED = 'YAycGAxLOwkxvsZzIoObHXTHz8MYecfbtXMLIozC2Xw=';
/** Of a serializer of JavaScript, and of the bytes as they are sent. */
const WRONG = ['HFdtFc7ZhGXyBiwMOo29Emv5eIe5ZiGtSjQaSi/O638=', 'kxg3V6h9cBBdmOc4DvDiccwjVTqEh3sXXh9cOyo1yPY='];

const verify = (body: string | Uint8Array, signature: string | undefined, secrets: readonly Buffer[] = [SECRET]) =>
  verifyAttendeeWebhook({ headers: { 'x-webhook-signature': signature }, body: Buffer.from(body) }, secrets);
const sign = (canonical: string | Uint8Array, secret = SECRET): string => createHmac('sha256', secret).update(canonical).digest('base64');
/** Whether `wire` is what Attendee sends when it signs `canonical`, beside what every message has. */
const isOneMessage = (wire: string, canonical: string): boolean =>
  verify(`{"data": ${wire}, "idempotency_key": "e"}`, sign(`{"data":${canonical},"idempotency_key":"e"}`)) !== null;

describe('a webhook of Attendee', () => {
  it('is genuine with a signature over its canonical form', () => {
    expect(verify(WIRE, SIGNED)).toEqual({
      id: '6f1c2a34-0000-4000-8000-000000000001',
      joinId: 'mj_01',
      ref: 'bot_TestVector000001',
    });
  });

  it.each([...WRONG, SIGNED.toLowerCase(), SIGNED.slice(1), `${SIGNED} `, '', undefined])(
    'is forged with the signature %p',
    (signature) => {
      expect(verify(WIRE, signature)).toBeNull();
    },
  );

  it('is forged with the secret of somebody else, or none', () => {
    expect([verify(WIRE, SIGNED, [Buffer.alloc(32)]), verify(WIRE, SIGNED, [])]).toEqual([null, null]);
  });

  it('is genuine with the newer or the older secret', () => {
    expect(verify(WIRE, SIGNED, [Buffer.alloc(32), SECRET])).not.toBeNull();
  });

  it('is forged with any other value', () => {
    for (const [from, to] of [
      ['2.0', '2'],
      ['2.0', '2.00'],
      ['61', '61.0'],
      ['mj_01', 'mj_02'],
      ['caf\\u00e9', 'cafe\\u0301'],
      ['null', 'false'],
    ] as const)
      expect([to, verify(WIRE.replace(from, to), SIGNED)]).toEqual([to, null]);
  });

  it('is about no run for another trigger, or about something else than a bot', () => {
    const other = '{"bot_id": "b", "bot_metadata": {"join_id": "mj_01"}, "idempotency_key": "e", "trigger": "transcript.update"}';
    const calendar = '{"calendar_id": "c", "idempotency_key": "e", "trigger": "calendar.state_change"}';
    for (const body of [other, calendar])
      expect(verify(body, sign(body.replaceAll(/([:,]) /g, '$1')))).toEqual({ id: 'e', joinId: null, ref: null });
  });

  it('leads to its run by the bot alone', () => {
    const body = (metadata: string) => `{"bot_id":"b","bot_metadata":${metadata},"idempotency_key":"e","trigger":"bot.state_change"}`;
    for (const metadata of ['null', '{}', '{"join_id":7}', '[]', '"mj_01"'])
      expect(verify(body(metadata), sign(body(metadata)))).toEqual({ id: 'e', joinId: null, ref: 'b' });
  });

  it.each([
    '{}',
    `{"idempotency_key":"${'e'.repeat(201)}"}`,
    '{"idempotency_key":null}',
    '{"idempotency_key":""}',
    '[]',
    'null',
    '"e"',
    '0',
  ])('tells nothing without an id: %s', (body) => {
    expect(verify(body, sign(body))).toBeNull();
  });
});

describe('the canonical form', () => {
  it.each([
    ['{"b": 1, "a": 2}', '{"a":2,"b":1}'],
    ['[1e-07, 1E+5, -0.0, 12345678901234567890, 1.10]', '[1e-07,1E+5,-0.0,12345678901234567890,1.10]'],
    ['"\\u00e9\\u2028\\u007f\\/"', '"é\u2028\u007f/"'],
    ['"\\ud83d\\ude00\\u0001\\u001f\\b\\f\\n\\r\\t\\"\\\\"', '"😀\\u0001\\u001f\\b\\f\\n\\r\\t\\"\\\\"'],
    // U+FF5E is below U+1F600, whose first UTF-16 unit is below U+FF5E.
    ['{"\\ud83d\\ude00": 1, "\\uff5e": 2}', '{"～":2,"😀":1}'],
    ['{"a": 1, "b": 2, "\\u0061": [3]}', '{"a":[3],"b":2}'],
    ['{"__proto__": {"x": 1}, "": {}}', '{"":{},"__proto__":{"x":1}}'],
    [' [ true ,\tfalse\r\n, null , [ ] , { } ] ', '[true,false,null,[],{}]'],
  ])('of %s is %s', (wire, canonical) => {
    expect(isOneMessage(wire, canonical)).toBe(true);
  });

  it('is none of what Python could not have signed', () => {
    for (const wire of ['"\\ud83d"', '{"\\ude00": 1}', 'NaN', '[Infinity]', "'a'", '[1,]', '{"a":1', '"\t"', '01', ''])
      expect([wire, isOneMessage(wire, wire)]).toEqual([wire, false]);
  });

  it('is made of a hundred levels at most', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect([99, 100, 200_000].map((depth) => isOneMessage(nested(depth), nested(depth)))).toEqual([true, false, false]);
  });

  it('is made of twenty thousand tokens at most, among them those of the message around it', () => {
    const list = (items: number) => `[${Array.from({ length: items }, () => '1').join(',')}]`;
    expect([isOneMessage(list(19_993), list(19_993)), isOneMessage(list(19_994), list(19_994))]).toEqual([true, false]);
  });

  it('is found in a long text of escapes', () => {
    const text = `"${'\\n\\"'.repeat(500_000)}"`;
    expect(isOneMessage(text, text)).toBe(true);
  });

  it('is not looked for in a string without an end', () => {
    const startedAt = performance.now();
    expect(verify(`"${'\\"'.repeat(131_071)}`, SIGNED)).toBeNull();
    // A search from each of its quotes to its end takes many times as long.
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('is found in JSON of a quarter mebibyte of escaped quotes', () => {
    const text = `"${'\\"'.repeat(131_071)}"`;
    expect(isOneMessage(text, text)).toBe(true);
  });
});

/** A value as Python has it: whole numbers and others are two kinds, and keys keep their order. */
type Value = null | boolean | string | { int: bigint } | { float: number } | Value[] | Map<string, Value>;

/** `repr` of a float: the same digits as in JavaScript, in another form. */
const floatText = (value: number): string => {
  if (Object.is(value, -0)) return '-0.0';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  const sign = value < 0 ? '-' : '';
  const plain = digits.replace(/[-.]/g, '');
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${plain}`;
  return `${sign}${plain.slice(0, power + 1).padEnd(power + 1, '0')}.${plain.slice(power + 1) || '0'}`;
};

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};
const hex = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/** Python's `json.dumps`, as it sends (`ascii`) and as it signs. */
const dumps = (value: Value, form: 'sent' | 'signed'): string => {
  const [comma, colon] = form === 'sent' ? [', ', ': '] : [',', ':'];
  const text = (plain: string): string => {
    const units = form === 'sent' ? plain.split('') : [...plain];
    const escaped = units.map((unit) => {
      const code = unit.charCodeAt(0);
      return SHORT[unit] ?? (code < 0x20 || (form === 'sent' && code > 0x7e) ? hex(code) : unit);
    });
    return `"${escaped.join('')}"`;
  };
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map((item) => dumps(item, form)).join(comma)}]`;
  if (value instanceof Map) {
    const entries = [...value];
    const points = ([key]: readonly [string, Value]) => [...key].map((point) => String(point.codePointAt(0)).padStart(7, '0')).join('');
    if (form === 'signed') entries.sort((left, right) => (points(left) < points(right) ? -1 : 1));
    return `{${entries.map(([key, item]) => `${text(key)}${colon}${dumps(item, form)}`).join(comma)}}`;
  }
  return 'int' in value ? String(value.int) : floatText(value.float);
};

const anyText = fc.string({ unit: 'binary', maxLength: 12 });
const { value: anyValue } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constant(null),
    fc.boolean(),
    anyText,
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((int) => ({ int })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((float) => ({ float })),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(anyText, tie('value')), { maxLength: 5 }).map((entries) => new Map(entries)),
  ),
}));

describe('the model of Python', () => {
  // As Python 3 printed them.
  it.each([
    [2, '2.0'],
    [-0.5, '-0.5'],
    [1e-7, '1e-07'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [1.5e300, '1.5e+300'],
    [123456.789, '123456.789'],
    [5e-324, '5e-324'],
    [0, '0.0'],
  ])('writes %p as %s', (float, text) => expect(floatText(float)).toBe(text));

  it('is met whatever is sent', () => {
    fc.assert(
      fc.property(anyValue, (value) => expect(isOneMessage(dumps(value, 'sent'), dumps(value, 'signed'))).toBe(true)),
      { numRuns: 2000 },
    );
  });

  it('is met when a key comes twice', () => {
    fc.assert(
      fc.property(anyText, anyValue, anyValue, (key, first, last) => {
        const [name, one, two] = [dumps(key, 'sent'), dumps(first, 'sent'), dumps(last, 'sent')];
        expect(isOneMessage(`{${name}: ${one}, ${name}: ${two}}`, dumps(new Map([[key, last]]), 'signed'))).toBe(true);
      }),
    );
  });
});

describe('a body of odd bytes', () => {
  it('is refused and throws nothing, signed or not', () => {
    const odd = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0ae.-1 tn\ud800'), maxLength: 60 }).map((text) => Buffer.from(text)),
      fc.tuple(fc.nat(WIRE.length), fc.integer({ min: 0, max: 255 })).map(([at, byte]) => {
        const bytes = Buffer.from(`${WIRE} `);
        bytes[at] = byte;
        return bytes;
      }),
    );
    fc.assert(
      fc.property(odd, (bytes) => {
        verify(bytes, sign(bytes));
        const heard = verify(bytes, SIGNED);
        expect([null, verify(WIRE, SIGNED)]).toContainEqual(heard);
      }),
      { numRuns: 2000 },
    );
  });
});
