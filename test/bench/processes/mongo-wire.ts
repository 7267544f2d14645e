import type { Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** MongoDB's wire protocol, as far as the official driver speaks it: OP_MSG, and OP_QUERY for its first hello. */
const HEADER_BYTES = 16;
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
/** The flags and the kind of the first section. */
const MSG_HEAD_BYTES = 5;
const REPLY_HEAD_BYTES = 20;
const INT_BYTES = 4;

/** A command with its documents, wherever they were sent. */
export type Answer = (command: Document) => Promise<Document>;

const parsed = (bytes: Buffer): Document => BSON.deserialize(bytes, { promoteBuffers: true });

/** The documents of one section of a message, under their name in the command. */
const documentsOf = (section: Buffer): Document => {
  const nameEnd = section.indexOf(0, INT_BYTES);
  const documents: Document[] = [];
  for (let at = nameEnd + 1; at < section.length; at += section.readInt32LE(at))
    documents.push(parsed(section.subarray(at, at + section.readInt32LE(at))));
  return { [section.toString('utf8', INT_BYTES, nameEnd)]: documents };
};

const commandOfMessage = (message: Buffer): Document => {
  const command: Document = {};
  for (let at = HEADER_BYTES + INT_BYTES; at < message.length; ) {
    const section = message.subarray(at + 1, at + 1 + message.readInt32LE(at + 1));
    Object.assign(command, message[at] === 0 ? parsed(section) : documentsOf(section));
    at += 1 + section.length;
  }
  return command;
};

const commandOfQuery = (message: Buffer): Document => {
  const nameEnd = message.indexOf(0, HEADER_BYTES + INT_BYTES);
  return parsed(message.subarray(nameEnd + 1 + 2 * INT_BYTES));
};

const reply = (to: number, opCode: number, parts: { readonly head: Buffer; readonly body: Uint8Array }): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + parts.head.length + parts.body.length, 0);
  header.writeInt32LE(to, 2 * INT_BYTES);
  header.writeInt32LE(opCode, 3 * INT_BYTES);
  return Buffer.concat([header, parts.head, parts.body]);
};

const replyHead = (): Buffer => {
  const head = Buffer.alloc(REPLY_HEAD_BYTES);
  head.writeInt32LE(1, REPLY_HEAD_BYTES - INT_BYTES);
  return head;
};

/** Answers each command of a connection. */
export const serveWire = (socket: Socket, answer: Answer): void => {
  let rest: Buffer = Buffer.alloc(0);
  const take = async (message: Buffer) => {
    const id = message.readInt32LE(INT_BYTES);
    const isQuery = message.readInt32LE(3 * INT_BYTES) === OP_QUERY;
    const body = BSON.serialize(await answer(isQuery ? commandOfQuery(message) : commandOfMessage(message)));
    if (isQuery) socket.write(reply(id, OP_REPLY, { head: replyHead(), body }));
    else socket.write(reply(id, OP_MSG, { head: Buffer.alloc(MSG_HEAD_BYTES), body }));
  };
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= HEADER_BYTES && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      void take(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
  socket.on('error', () => socket.destroy());
};
