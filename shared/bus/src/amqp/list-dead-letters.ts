import { lastQueueOf, REASON_HEADER } from './message-copies.ts';
import { deadQueueName } from './queues.ts';
import { withChannel } from './with-channel.ts';

export interface DeadLetter {
  readonly messageId: string;
  /** The queue that it was in; null when nothing says. */
  readonly queue: string | null;
  /** Empty for a message that the broker gave up on by itself. */
  readonly reason: string;
  readonly body: string;
}

export interface ListDeadLettersOptions {
  readonly url: string;
  readonly consumer: string;
  readonly limit: number;
}

/** The oldest dead letters of a consumer, which stay where they are. */
export const listDeadLetters = ({ url, consumer, limit }: ListDeadLettersOptions): Promise<readonly DeadLetter[]> =>
  withChannel(url, async (channel) => {
    const dead = deadQueueName(consumer);
    const letters: DeadLetter[] = [];
    while (letters.length < limit) {
      const message = await channel.get(dead);
      if (message === false) break;
      const { headers = {}, messageId } = message.properties;
      letters.push({
        messageId: String(messageId),
        queue: lastQueueOf(headers),
        reason: String(headers[REASON_HEADER] ?? ''),
        body: message.content.toString(),
      });
    }
    // Closing the channel gives them back.
    return letters;
  });
