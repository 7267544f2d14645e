import { connect, createServer, type Socket } from 'node:net';

/** Between a client and its broker: passes everything on, until it is to keep back what the broker says. */
export interface FreezingProxy {
  readonly url: string;
  /** Keeps back the nth answer of this kind from now on, and all that the broker says after it on that connection; resolves when it has come. */
  freezeBefore(method: AnswerMethod, nth: number): Promise<void>;
  isFrozen(): boolean;
  /** How often the broker has agreed to a consumption since `freezeBefore`, what is kept back included. */
  consumptions(): number;
  /** Messages that are kept back. */
  heldDeliveries(): number;
  /** What was kept back goes out in one piece. */
  thaw(): void;
  close(): Promise<void>;
}

const METHODS = { 'qos-ok': 11, 'consume-ok': 21, 'cancel-ok': 31, deliver: 60 } as const;
type AnswerMethod = Exclude<keyof typeof METHODS, 'deliver'>;

const METHOD_FRAME = 1;
const BASIC_CLASS = 60;
const HEADER_BYTES = 7;
const FRAME_BYTES = HEADER_BYTES + 1;
const METHOD_OFFSET = HEADER_BYTES + 2;

const isBasic = (frame: Buffer, method: number): boolean =>
  frame[0] === METHOD_FRAME && frame.readUInt16BE(HEADER_BYTES) === BASIC_CLASS && frame.readUInt16BE(METHOD_OFFSET) === method;

/** The frames in what a socket reads; what is left of the last one waits for the rest. */
const framesOf = () => {
  let rest = Buffer.alloc(0);
  return (chunk: Buffer): readonly Buffer[] => {
    rest = Buffer.concat([rest, chunk]);
    const frames: Buffer[] = [];
    for (let size = sizeOf(rest); size <= rest.length; size = sizeOf(rest)) {
      frames.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    return frames;
  };
};
const sizeOf = (bytes: Buffer): number => (bytes.length < HEADER_BYTES ? Number.POSITIVE_INFINITY : bytes.readUInt32BE(3) + FRAME_BYTES);

export const startFreezingProxy = async (brokerUrl: string): Promise<FreezingProxy> => {
  const { hostname, port } = new URL(brokerUrl);
  const sockets = new Set<Socket>();
  let wanted = { method: 0, left: 0, come: () => {} };
  let held: { readonly client: Socket; readonly frames: Buffer[] } | null = null;

  let consumptions = 0;

  const pass = (client: Socket, frame: Buffer) => {
    if (isBasic(frame, METHODS['consume-ok'])) consumptions += 1;
    if (held === null && isBasic(frame, wanted.method)) wanted.left -= 1;
    if (held === null && wanted.left === 0) {
      held = { client, frames: [] };
      wanted = { ...wanted, left: -1 };
      wanted.come();
    }
    if (held?.client === client) held.frames.push(frame);
    else client.write(frame);
  };
  const server = createServer((client) => {
    const broker = connect(Number(port), hostname);
    const split = framesOf();
    for (const socket of [client, broker]) {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => undefined);
    }
    client.on('close', () => broker.destroy()).pipe(broker);
    broker
      .on('close', () => client.destroy())
      .on('data', (chunk: Buffer) => {
        for (const frame of split(chunk)) pass(client, frame);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(brokerUrl);
  url.port = String(typeof address === 'object' && address ? address.port : 0);

  return {
    url: url.href,
    freezeBefore(method, nth) {
      consumptions = 0;
      return new Promise((come) => {
        wanted = { method: METHODS[method], left: nth, come };
      });
    },
    isFrozen: () => held !== null,
    consumptions: () => consumptions,
    heldDeliveries: () => held?.frames.filter((frame) => isBasic(frame, METHODS.deliver)).length ?? 0,
    thaw() {
      if (held === null) return;
      const { client, frames } = held;
      held = null;
      client.write(Buffer.concat(frames));
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
