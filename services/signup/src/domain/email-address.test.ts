import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readEmailAddress } from './email-address.ts';

const label = (length: number): string => 'a'.repeat(length);

describe('an address that wants to sign up', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com', 'example.com'],
    ["o'brien+tag/x=y@mail.example.co.uk", "o'brien+tag/x=y@mail.example.co.uk", 'mail.example.co.uk'],
    ['ada@EXÄMPLE.com', 'ada@xn--exmple-cua.com', 'xn--exmple-cua.com'],
    ['ада@пример.рф', 'ада@xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai'],
    [`${label(64)}@example.com`, `${label(64)}@example.com`, 'example.com'],
    [`ada@${label(63)}.com`, `ada@${label(63)}.com`, `${label(63)}.com`],
    [
      `a@${`${label(63)}.`.repeat(3)}${label(56)}.com`,
      `a@${`${label(63)}.`.repeat(3)}${label(56)}.com`,
      `${`${label(63)}.`.repeat(3)}${label(56)}.com`,
    ],
  ])('[SIGN-02] %s is %s', (text, address, domain) => {
    expect(readEmailAddress(text)).toMatchObject({ address, domain });
  });

  it.each([
    ['', 'such as ada@example.com'],
    ['ada', 'such as ada@example.com'],
    ['@example.com', 'such as ada@example.com'],
    ['ada@', 'such as ada@example.com'],
    [' ada@example.com', 'such as ada@example.com'],
    ['a..b@example.com', 'such as ada@example.com'],
    ['.ada@example.com', 'such as ada@example.com'],
    ['ada@eve@example.com', 'such as ada@example.com'],
    ['Ada <ada@example.com>', 'such as ada@example.com'],
    ['ada@example.com,eve@example.com', 'such as ada@example.com'],
    ['ada@exam_ple.com', 'such as ada@example.com'],
    ['ada\u202e@example.com', 'such as ada@example.com'],
    ['ada\r\nBcc: eve@example.com@example.com', 'control characters'],
    ['ada@example.com\r\nBcc: eve@example.com', 'control characters'],
    ['ada@example.com\n', 'control characters'],
    ['ada\u0000@example.com', 'control characters'],
    ['"ada b"@example.com', 'quotation marks'],
    ['"a@b"@example.com', 'quotation marks'],
    ['ada@localhost', 'at least two parts'],
    ['ada@com', 'at least two parts'],
    ['ada@127.0.0.1', 'not an IP address'],
    ['ada@[127.0.0.1]', 'not an IP address'],
    ['ada@[IPv6:::1]', 'not an IP address'],
    [`${label(65)}@example.com`, '64 bytes before the @'],
    [`${'ä'.repeat(33)}@example.com`, '64 bytes before the @'],
    [`ada@${label(64)}.com`, '63 characters'],
    [`a@${`${label(63)}.`.repeat(3)}${label(57)}.com`, '254 bytes'],
  ])('[SIGN-02] %j is refused: %s', (text, reason) => {
    expect(() => readEmailAddress(text)).toThrow(reason);
    expect(() => readEmailAddress(text)).toThrow(/^email: /);
  });

  it('[SIGN-02] any text is an address or refused with a reason, never anything else', () => {
    const outcomeOf = (text: string): string => {
      try {
        const { address, domain, mailbox } = readEmailAddress(text);
        return address.endsWith(`@${domain}`) && readEmailAddress(address).address === address && mailbox.includes('@')
          ? 'address'
          : 'wrong';
      } catch (error) {
        return Error.isError(error) ? error.name : 'wrong';
      }
    };
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.emailAddress()), (text) => {
        expect(['address', 'DomainError']).toContain(outcomeOf(text));
      }),
    );
  });
});

describe('the mailbox that addresses are counted by', () => {
  const mailboxOf = (text: string): string => readEmailAddress(text).mailbox;

  it.each([
    ['A.d.a+news@gmail.com', 'ada@gmail.com'],
    ['ada@googlemail.com', 'ada@gmail.com'],
    ['a_d-a.x+1@pm.me', 'adax@proton.me'],
    ['a-d.a+1@yandex.com.tr', 'ada@yandex.com'],
    ['a.d.a+1@ya.ru', 'ada@yandex.com'],
    ['a.da+1@me.com', 'a.da@icloud.com'],
    ['a.da+1@outlook.de', 'a.da@outlook.de'],
    ['ada+1@hotmail.co.uk', 'ada@hotmail.co.uk'],
    ['ada+1+2@fastmail.com', 'ada@fastmail.com'],
  ])('[SIGN-02] %s is %s', (text, mailbox) => {
    expect(mailboxOf(text)).toBe(mailbox);
  });

  it.each(['a.da+news@example.com', 'a.da+1@mygmail.com', 'ada+1@yahoo.com', '+1@gmail.com'])(
    '[SIGN-02] %s is one of its own, since no provider says otherwise',
    (text) => {
      expect(mailboxOf(text)).toBe(text);
    },
  );

  it('[SIGN-02] is not where mail is sent', () => {
    expect(readEmailAddress('A.da+x@gmail.com').address).toBe('a.da+x@gmail.com');
  });
});
