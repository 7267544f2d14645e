import { errorCode } from '@bubbles/kernel/errors.ts';
import { type ConfirmChannel, connect } from 'amqplib';
import { BusUnavailable } from '../bus.ts';

const CONNECT_LIMIT_MS = 10_000;

/** A connection for one piece of work of an operator: what fails rejects, and nothing is tried again. */
export const withChannel = async <T>(url: string, work: (channel: ConfirmChannel) => Promise<T>): Promise<T> => {
  const connection = await connect(url, { noDelay: true, timeout: CONNECT_LIMIT_MS }).catch((error: unknown) => {
    const why = errorCode(error) ?? (Error.isError(error) ? error.message : error);
    throw new BusUnavailable(`the broker at ${new URL(url).host} is out of reach: ${why}`, error);
  });
  // The failed call tells it too.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const result = await work(channel);
    // The connection's own close would overtake the last acknowledgements.
    await channel.close();
    return result;
  } finally {
    await connection.close();
  }
};
