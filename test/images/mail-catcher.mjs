import { createServer } from 'node:http';
import { SMTPServer } from 'smtp-server';

/** Stands in for the mail catcher of compose.yaml: takes every mail at 1025, and shows all of them at 8025. */
const mails = [];

new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  async onData(stream, session, done) {
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() });
    done();
  },
}).listen(1025);
createServer((_request, response) => response.end(JSON.stringify(mails))).listen(8025);
process.on('SIGTERM', () => process.exit(0));
