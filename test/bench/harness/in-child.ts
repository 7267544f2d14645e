import { once } from 'node:events';

/** The first word of the parent. */
const [told] = await once(process, 'message');

/** The child's end of `startChild`: what it was told to be. */
export const settings = <S>(): S => told;

export const tellParent = (message: unknown): void => {
  process.send?.(message);
};

/** `answer` gets each question of the parent; the process ends when the parent does. */
export const serveParent = (answer: (question: never) => unknown = () => null): void => {
  process.on('message', async (question) => {
    // The parent asks what this child answers.
    tellParent(await answer(question as never));
  });
  process.on('disconnect', () => process.exit(0));
};
