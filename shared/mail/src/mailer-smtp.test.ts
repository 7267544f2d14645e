import { createSeal } from '@bubbles/kernel/seal.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { openedIn } from '../test/engines.ts';
import { type MailServer, reply } from '../test/mail-server.ts';
import { aMail, closing, sendingTo, serving } from '../test/sending.ts';
import { createMailer, openMails } from './mailer.ts';

const SECOND_MS = 1000;

/** A process that sends over this server. */
const started = async (server: Pick<MailServer, 'port'>) => {
  const clock = fakeClock();
  const ids = fakeIds();
  const mails = await openedIn(memoryDatabase(), openMails);
  const seal = createSeal([{ id: 'k1', key: Buffer.alloc(32, 'key') }], ids.bytes);
  const mailer = createMailer({ mails, transport: sendingTo(server), seal, clock, ids, log: SILENT_LOG, registry: new Registry() });
  mailer.loop.start({ clock, log: SILENT_LOG });
  closing(async () => {
    mailer.loop.cut?.();
    await mailer.loop.stop();
  });
  const send = (id = 'mail-1') => mailer.send({ ...aMail({ id }), dropAt: new Date(clock.now().getTime() + 600 * SECOND_MS) });
  const pass = async (seconds: number) => {
    await clock.advance(seconds * SECOND_MS);
    await mailer.loop.idle();
  };
  return { mailer, mails, send, pass };
};

describe('mails over a mail server', () => {
  it('that puts off who it does not know yet arrive with the next try', async () => {
    const seen = new Set<string>();
    const server = await serving({
      onRcptTo({ address }, _session, callback) {
        if (seen.has(address)) return callback();
        seen.add(address);
        return callback(reply(451, 'greylisted, come again'));
      },
    });
    const { mailer, send, pass } = await started(server);
    await send();
    await mailer.loop.idle();
    expect(server.received).toEqual([]);
    await pass(5);
    expect(server.received).toHaveLength(1);
    await pass(600);
    expect(server.received).toHaveLength(1);
  });

  it('that hangs up after the message and before its answer are sent again, as the same message', async () => {
    const messageIds: (string | undefined)[] = [];
    const server: MailServer = await serving({
      onData(stream, _session, callback) {
        let raw = '';
        stream.on('data', (chunk: Buffer) => {
          raw += chunk;
        });
        stream.on('end', () => {
          messageIds.push(/^Message-ID: (.*)$/im.exec(raw)?.[1]);
          if (messageIds.length === 1) server.hangUp();
          else callback();
        });
      },
    });
    const { mailer, mails, send, pass } = await started(server);
    await send();
    await mailer.loop.idle();
    await pass(5);
    expect(messageIds).toHaveLength(2);
    expect(messageIds[1]).toBe(messageIds[0]);
    expect(await mails.find({})).toMatchObject([{ sealed: null }]);
  });

  it('that never answers hold up no stop of the process, and are kept', async () => {
    const asked = Promise.withResolvers<void>();
    const server = await serving({ onRcptTo: () => asked.resolve() });
    const { mailer, mails, send } = await started(server);
    await send();
    await asked.promise;
    const stopping = mailer.loop.stop();
    mailer.loop.cut?.();
    await stopping;
    expect(await mails.find({})).toMatchObject([{ tries: 0, leaseToken: null, sealed: expect.any(String) }]);
    server.hangUp();
  });
});
