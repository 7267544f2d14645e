import { testData } from '@bubbles/testing/test-data.ts';
import { describe, expect, it } from '@jest/globals';
import { type DestinationPolicy, destinationUrl } from './destination-url.ts';
import { addressPolicy } from './public-address.ts';

interface Case {
  readonly url: string;
  readonly accept: boolean;
  readonly stage: 'validate' | 'connect';
  readonly reason: string;
}
// The file's shape is fixed beside it; a row that differs fails the count below.
const cases = JSON.parse(testData('receiver-urls.json')) as Case[];

const strict: DestinationPolicy = { addresses: addressPolicy({ allow: [], deny: [] }), http: false, loopback: false };
const accepts = (url: string, policy = strict) => {
  try {
    return destinationUrl('url', url, policy) instanceof URL;
  } catch {
    return false;
  }
};

describe('HOOK-10 receiver addresses that are literal', () => {
  it('has all handed cases', () => expect(cases).toHaveLength(199));

  it.each(cases.map(({ url, stage, accept, reason }) => ({ url, reason, expected: stage === 'connect' || accept })))(
    '[HOOK-10] $reason: $url',
    ({ url, expected }) => {
      expect(accepts(url)).toBe(expected);
    },
  );

  it.each([
    'https://home.arpa/',
    'https://home.arpa./',
    'https://CLUSTER.local/',
    'https://kubernetes.default.svc./',
    'https://example.com../',
    'https://*.example.com/',
    'https://$(id).example.com/',
    'https://`id`.example.com/',
    'https://a"b.example.com/',
    'https://a;b.example.com/',
    'https://①②⑦.0.0.1/',
    'https://8.8.8.8./',
    'https://example.com:000022/',
    'https://example.com：443/',
    'https://user＠example.com/',
    'https://example.com／evil.example/',
  ])('[HOOK-10] %s is no public host', (url) => expect(accepts(url)).toBe(false));

  it.each(['034f', 'fe0f', '115f', '1160', '3164', 'ffa0', '180b', 'e0100', '17b4'])(
    '[HOOK-10] a host with the invisible U+%s is no public one',
    (code) => {
      const invisible = String.fromCodePoint(Number.parseInt(code, 16));
      expect(accepts(`https://exam${invisible}ple.com/`)).toBe(false);
      expect(accepts(`https://example.com/${invisible}`)).toBe(true);
    },
  );

  it.each([
    'https://bücher.example.com/',
    'https://пример.рф/',
    'https://faß.de/',
    'https://_hook.a--b.example.com./',
    'https://example.com/🎈?x=ü',
    'https://example.com/\u2764\ufe0f/1\ufe0f\u20e3',
    'https://localhost.example.com/',
    'https://mylocal.com/',
    'https://[2606:4700:4700::1.1.1.1]/',
    'https://example.com:0443/',
  ])('[HOOK-10] %s is one', (url) => expect(accepts(url)).toBe(true));

  it.each([
    'localhost.localdomain',
    'localhost6.localdomain6.',
    'nas.home',
    'intra.corp',
    'db.CORP.',
    'printer.lan',
    'app.private',
    'x.intra',
    'web.service.consul',
    'smtp.mail',
    '4.3.2.1.in-addr.arpa',
    '1.0.0.ip6.arpa',
    'ipv4only.arpa',
    'x.alt',
    'x.i2p',
    'redis.docker',
    'web.default.svc',
    'fritz.localnet',
  ])('[HOOK-10] %s exists inside networks only', (host) => {
    expect(accepts(`https://${host}/in`)).toBe(false);
    expect(accepts(`https://${host.replace(/\.$/, '')}.example.com/in`)).toBe(true);
  });

  it.each(['hook.test', 'hook.example', 'hook.invalid', 'corp.com', 'my-home.net', 'arpa.dev', 'home.mail.ru'])(
    '[HOOK-10] %s is a name of the public DNS, or of none',
    (host) => expect(accepts(`https://${host}/in`)).toBe(true),
  );

  it('[HOOK-10] has at most 2048 characters as it is sent', () => {
    const sized = (text: string, encoded: number, count: number) => {
      const start = 'https://example.com/';
      const whole = Math.floor((count - start.length) / encoded);
      return `${start}${text.repeat(whole)}${'x'.repeat(count - start.length - whole * encoded)}`;
    };
    for (const [text, encoded] of [
      ['x', 1],
      ['%20', 3],
      ['ü', 6],
      ['🎈', 12],
    ] as const) {
      expect(accepts(sized(text, encoded, 2048))).toBe(true);
      expect(destinationUrl('url', sized(text, encoded, 2048), strict).href).toHaveLength(2048);
      expect(() => destinationUrl('url', sized(text, encoded, 2049), strict)).toThrow(
        'url: must have at most 2048 characters, counted percent-encoded.',
      );
    }
    expect(accepts(`${sized('x', 1, 2048)}#fragment`)).toBe(true);
    expect(accepts(`https://${'ü'.repeat(40)}.example.com/${'x'.repeat(1990)}`)).toBe(false);
  });

  it('[HOOK-10] says one thing whatever the fault of the host', () => {
    expect(() => destinationUrl('url', 'https://10.0.0.1/', strict)).toThrow('url: must be an absolute https URL of a public host.');
    expect(() => destinationUrl('url', 'nonsense', strict)).toThrow('url: must be an absolute https URL of a public host.');
  });

  it.each(['http://localhost:8080/in', 'https://127.0.0.1:8080/', 'http://[::1]:8080/', 'http://localhost/', 'https://127.0.0.2/'])(
    '[HOOK-10] %s is where the sandbox itself listens',
    (url) => {
      const sandbox = { ...strict, loopback: true, ownPorts: () => new Set([80, 443, 8080]) };
      expect(() => destinationUrl('url', url, sandbox)).toThrow('url: must not be an address of this service itself.');
      expect(accepts('http://localhost:9000/', sandbox)).toBe(true);
    },
  );

  it.each(['http://localhost:9000/in', 'https://localhost/in', 'HTTP://LOCALHOST/', 'http://127.0.0.1:9000/in', 'https://[::1]:9000/in'])(
    'the sandbox admits %s, production does not',
    (url) => {
      expect(accepts(url, { ...strict, loopback: true })).toBe(true);
      expect(accepts(url)).toBe(false);
    },
  );

  it.each([
    'http://hooks.example.com/in',
    'http://10.0.0.1/in',
    'https://foo.localhost/in',
    'http://localhost./in',
    'http://ⓛocalhost/in',
    'http://localhost:22/in',
    'http://2130706433@x/in',
    'http://2130706433/in',
    'http://127.1/in',
    'http://127.0.0.1./in',
    'http://①②⑦.0.0.1/in',
    'http://[::ffff:127.0.0.1]/in',
    'http://[::7f00:1]/in',
    'http://0.0.0.0/in',
    'http://[::]/in',
  ])('the sandbox does not admit %s', (url) => {
    expect(accepts(url, { ...strict, loopback: true })).toBe(false);
  });

  it('[HOOK-10] an operator may allow and deny blocks; a denial wins', () => {
    const addresses = addressPolicy({ allow: ['10.1.0.0/16'], deny: ['10.1.2.0/24', '93.184.0.0/16'] });
    const policy = { ...strict, addresses };
    expect(accepts('https://10.1.1.1/in', policy)).toBe(true);
    expect(accepts('https://10.1.2.1/in', policy)).toBe(false);
    expect(accepts('https://93.184.215.14/in', policy)).toBe(false);
  });

  it('[HOOK-10] a denial wins over the exemption of the sandbox too', () => {
    const policy = { ...strict, loopback: true, addresses: addressPolicy({ allow: [], deny: ['127.0.0.9/32', '::1/128'] }) };
    const urls = ['http://127.0.0.9:9000/in', 'https://127.0.0.9/in', 'http://[::1]:9000/in', 'http://127.0.0.8:9000/in'];
    expect(urls.map((url) => accepts(url, policy))).toEqual([false, false, false, true]);
  });
});
