import { describe, expect, it } from '@jest/globals';
import { type MailServer, reply } from '../test/mail-server.ts';
import { aMail, sendingTo, serving, uncut } from '../test/sending.ts';

type Answer = (error: Error) => void;

describe('mails over SMTP', () => {
  it('arrive whole, over STARTTLS, with a Message-ID that follows from their id', async () => {
    const { port, received } = await serving();
    const transport = sendingTo({ port });
    await transport.deliver(aMail(), uncut);
    await transport.deliver(aMail(), uncut);
    expect(received).toMatchObject([
      {
        envelope: { from: 'no-reply@bubbles.test', to: ['ada@example.test'] },
        secure: true,
        parsed: {
          from: { value: [{ name: 'Bubbles', address: 'no-reply@bubbles.test' }] },
          to: { value: [{ name: '', address: 'ada@example.test' }] },
          subject: 'Your code',
          text: 'Your code is 123456.\n',
          html: '<p>Your code is <b>123456</b>.</p>',
        },
      },
      {},
    ]);
    const [first, second] = received.map(({ parsed }) => parsed);
    expect(first?.messageId).toMatch(/^<[0-9a-f]{40}@bubbles\.test>$/);
    expect(second?.messageId).toBe(first?.messageId);
    expect(first?.headers.get('auto-submitted')).toBe('auto-generated');
  });

  it('go over one connection, one after the other', async () => {
    let connections = 0;
    const { port, received } = await serving({
      onConnect(_session, callback) {
        connections += 1;
        callback();
      },
    });
    const transport = sendingTo({ port });
    for (const id of ['a', 'b', 'c']) await transport.deliver(aMail({ id }), uncut);
    expect([received.length, connections]).toEqual([3, 1]);
  });

  it('go with TLS from the first byte to smtps', async () => {
    const { port, received } = await serving({ secure: true });
    await sendingTo({ port, secure: true }).deliver(aMail(), uncut);
    expect(received).toMatchObject([{ secure: true }]);
  });

  it('log in, and are tried again later when that is refused', async () => {
    const { port, received } = await serving({
      authOptional: false,
      onAuth: ({ username, password }, _session, callback) =>
        password === 'p@ss/word' ? callback(null, { user: username }) : callback(reply(535, 'ada@example.test may not')),
    });
    await sendingTo({ port, login: { user: 'bubbles', password: 'p@ss/word' } }).deliver(aMail(), uncut);
    expect(received).toMatchObject([{ user: 'bubbles' }]);
    const wrong = sendingTo({ port, login: { user: 'bubbles', password: 'wrong' } });
    await expect(wrong.deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'login', status: 535 });
    const none = sendingTo({ port });
    await expect(none.deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'deferred', status: 530 });
  });
});

describe('TLS', () => {
  it('is required: no mail goes to a server that offers none', async () => {
    const { port, received } = await serving({ disabledCommands: ['STARTTLS'] });
    await expect(sendingTo({ port }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'tls' });
    expect(received).toEqual([]);
  });

  it('is left out where the operator says so, and taken all the same where it is offered', async () => {
    const plain = await serving({ disabledCommands: ['STARTTLS'] });
    await sendingTo({ port: plain.port, requireTls: false }).deliver(aMail(), uncut);
    expect(plain.received).toMatchObject([{ secure: false }]);
    const offering = await serving();
    await sendingTo({ port: offering.port, requireTls: false }).deliver(aMail(), uncut);
    expect(offering.received).toMatchObject([{ secure: true }]);
  });

  it.each([
    ['of a stranger', 'stranger'],
    ['that has expired', 'expired'],
  ] as const)('a certificate %s is not believed', async (_what, certificate) => {
    for (const secure of [false, true]) {
      const { port, received } = await serving({ certificate, secure });
      await expect(sendingTo({ port, secure }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'tls' });
      await expect(sendingTo({ port, secure, requireTls: false }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'tls' });
      expect(received).toEqual([]);
    }
  });

  it('a certificate of an authority that nobody named is not believed', async () => {
    const { port } = await serving();
    await expect(sendingTo({ port, ca: null }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'tls' });
  });
});

describe('a mail server that does not accept', () => {
  it.each([
    ['refuses the recipient for good', 550, 'refused'],
    ['defers the recipient', 450, 'deferred'],
    ['is in another state than we think', 503, 'deferred'],
  ])('%s', async (_what, code, reason) => {
    const { port } = await serving({ onRcptTo: (_address, _session, callback) => callback(reply(code, '<ada@example.test> is not here')) });
    const refusal = await sendingTo({ port })
      .deliver(aMail(), uncut)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ reason, status: code });
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain('ada');
  });

  it.each([
    ['refuses the message for good', 554, 'refused'],
    ['defers the message', 452, 'deferred'],
  ])('%s', async (_what, code, reason) => {
    const { port } = await serving({
      onData(stream, _session, callback) {
        stream.resume().on('end', () => callback(reply(code, 'no')));
      },
    });
    await expect(sendingTo({ port }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason, status: code });
  });

  it('a refusal of our own address is no fault of the mail: it is tried again', async () => {
    const { port } = await serving({ onMailFrom: (_address, _session, callback) => callback(reply(550, 'not you')) });
    await expect(sendingTo({ port }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'deferred', status: 550 });
  });

  it('takes the next mail over the same connection after a refusal', async () => {
    let isHere = false;
    const { port, received } = await serving({
      onRcptTo: (_address, _session, callback) => (isHere ? callback() : callback(reply(550, 'not here'))),
    });
    const transport = sendingTo({ port });
    await expect(transport.deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'refused' });
    isHere = true;
    await transport.deliver(aMail(), uncut);
    expect(received).toHaveLength(1);
  });

  it.each([
    ['hangs up after the message', (server: MailServer) => server.hangUp(), 'unreachable', null],
    ['says after the message that it closes', (_server: MailServer, answer: Answer) => answer(reply(421, 'closing')), 'deferred', 421],
  ])('%s: the mail is tried again by the queue, not at once', async (_what, act, reason, status) => {
    let attempts = 0;
    const server = await serving({
      onData(stream, _session, callback) {
        attempts += 1;
        stream.resume().on('end', () => act(server, callback));
      },
    });
    await expect(sendingTo(server).deliver(aMail(), uncut)).rejects.toMatchObject({ reason, status });
    expect(attempts).toBe(1);
  });
});

describe('what others chose', () => {
  it.each([
    ['a domain with letters of its own', 'ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['a long address', `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`, undefined],
    ['marks that are letters of an address', "o'brien+tag/x=y{z}|~^`?%&!#$*@example.test", undefined],
  ])('reaches its address: %s', async (_what, to, envelope = to) => {
    const { port, received } = await serving();
    await sendingTo({ port }).deliver(aMail({ to }), uncut);
    expect(received[0]?.raw.replace(/\r\n +/g, '')).toMatch(new RegExp(`^To: ?${RegExp.escape(envelope)}\r$`, 'm'));
    expect(received[0]?.envelope.to).toHaveLength(1);
    expect([...(received[0]?.parsed.headers.keys() ?? [])]).not.toContain('bcc');
  });

  it('reaches an address with letters of its own where the mail server takes them', async () => {
    const to = 'grüße@example.test';
    const taking = await serving({ hideSMTPUTF8: false });
    await sendingTo(taking).deliver(aMail({ to }), uncut);
    expect(taking.received[0]?.envelope.to).toEqual([to]);
  });

  it('is no header: subject, texts and name of the sender with everything that ends one', async () => {
    const { port, received } = await serving();
    const hostile = 'x\r\nBcc: eve@example.test\r\n\r\n.\r\nQUIT\r\n';
    const sender = { name: 'A "quoted", <b@c.test> \u202e name', address: 'no-reply@bubbles.test' };
    await sendingTo({ port, from: sender }).deliver(aMail({ subject: hostile, text: hostile, html: `<p>${hostile}</p>` }), uncut);
    const [mail] = received;
    expect(mail?.envelope).toEqual({ from: 'no-reply@bubbles.test', to: ['ada@example.test'] });
    expect(mail?.parsed.from?.value).toEqual([{ name: sender.name, address: sender.address }]);
    expect(mail?.parsed.headers.has('bcc')).toBe(false);
    expect(mail?.parsed.text).toContain('\n.\nQUIT\n');
    expect(received).toHaveLength(1);
  });

  it('is no header: an address that got past whoever should have checked it', async () => {
    const { port, received } = await serving();
    const transport = sendingTo({ port });
    const addresses = ['a@b.test\r\nRCPT TO:<eve@example.test>', 'a\r\nRCPT TO:<eve@example.test>\r\n@b.test', 'a@b.test> SIZE=1'];
    for (const to of [...addresses, 'a@b.test, eve@example.test', '<a@b.test>', 'a <eve@example.test>@b.test'])
      await expect(transport.deliver(aMail({ to }), uncut)).rejects.toMatchObject({ reason: expect.stringMatching(/^(address|refused)$/) });
    expect(received).toEqual([]);
  });

  it('long lines are folded, and a long subject is one header', async () => {
    const { port, received } = await serving();
    await sendingTo({ port }).deliver(aMail({ subject: `${'ü'.repeat(150)} end`, text: 'z'.repeat(5000) }), uncut);
    expect(received[0]?.parsed.subject).toBe(`${'ü'.repeat(150)} end`);
    for (const line of received[0]?.raw.split('\r\n') ?? []) expect(line.length).toBeLessThanOrEqual(998);
  });
});
