import { testData } from '@bubbles/testing/test-data.ts';
import { afterEach } from '@jest/globals';
import { createSmtpTransport } from '../src/smtp.ts';
import type { MailTransport, OutgoingMail } from '../src/transport.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

/** The certificate of localhost has signed itself. */
const ca = [testData('certificates/localhost.pem')];
const from = { name: 'Bubbles', address: 'no-reply@bubbles.test' };

/** A signal that no one aborts. */
export const uncut = new AbortController().signal;

export const aMail = (more: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: 'mail-1',
  to: 'ada@example.test',
  subject: 'Your code',
  text: 'Your code is 123456.\n',
  html: '<p>Your code is <b>123456</b>.</p>',
  ...more,
});

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** Runs after the test, the last one first. */
export const closing = (close: () => Promise<void>): void => void open.push(close);

export const serving = async (...options: Parameters<typeof startMailServer>): Promise<MailServer> => {
  const server = await startMailServer(...options);
  closing(server.close);
  return server;
};

interface To extends Partial<Omit<Parameters<typeof createSmtpTransport>[0], 'server'>> {
  readonly host?: string;
  readonly port: number;
  readonly secure?: boolean;
  readonly login?: { readonly user: string; readonly password: string };
}

export const sendingTo = ({ host = 'localhost', port, secure = false, login, ...options }: To): MailTransport => {
  const server = { host, port, secure, login: login ?? null };
  const transport = createSmtpTransport({ server, from, requireTls: true, ca, ...options });
  closing(transport.close);
  return transport;
};
