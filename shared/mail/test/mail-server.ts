import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { testData } from '@bubbles/testing/test-data.ts';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  /** The mail as it came over the wire. */
  readonly raw: string;
  readonly parsed: ParsedMail;
  readonly secure: boolean;
  readonly user: string | null;
}

export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Ends every connection without a word. */
  hangUp(): void;
  close(): Promise<void>;
}

interface MailServerOptions extends SMTPServerOptions {
  /** A certificate of `shared/testing/data/certificates`. */
  readonly certificate?: 'localhost' | 'stranger' | 'expired';
}

/** What a mail server says: the code decides whether it is tried again. */
export const reply = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode });

/** A real mail server on loopback, with STARTTLS unless it is told otherwise. */
export const startMailServer = async ({ certificate = 'localhost', ...options }: MailServerOptions = {}): Promise<MailServer> => {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    key: testData(`certificates/${certificate}.key`),
    cert: testData(`certificates/${certificate}.pem`),
    authOptional: true,
    onData(stream, { envelope, secure, user = null }, callback) {
      const take = async () => {
        const raw = await buffer(stream);
        received.push({
          envelope: {
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address),
          },
          raw: raw.toString(),
          parsed: await simpleParser(raw),
          secure,
          user,
        });
      };
      take().then(() => callback(), callback);
    },
    ...options,
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => sockets.add(socket));
  // Ignores connection errors, such as a handshake that the client ends.
  server.on('error', () => undefined);
  await once(server.listen(0, 'localhost'), 'listening');
  // It listens on a port.
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    received,
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
