import { once } from 'node:events';
import { observation } from '../processes/switched-traces.ts';

/** The first word of the parent. */
const [told] = await once(process, 'message');

/** The child's end of `startChild`: what it was told to be. */
export const settings = <S>(): S => told;

export const tellParent = (message: unknown): void => {
  process.send?.(message);
};

/** Asked of a child that can be switched: whether it traces and measures from now on. It answers with its CPU time so far, milliseconds. */
interface ObservationSwitch {
  readonly observe: boolean;
}

const isSwitch = (question: unknown): question is ObservationSwitch =>
  typeof question === 'object' && question !== null && 'observe' in question;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** `answer` gets each question of the parent; the process ends when the parent does. */
export const serveParent = (answer: (question: never) => unknown = () => null): void => {
  process.on('message', async (question) => {
    if (isSwitch(question)) {
      observation.on = question.observe;
      return tellParent(cpuMs());
    }
    // The parent asks what this child answers.
    tellParent(await answer(question as never));
  });
  process.on('disconnect', () => process.exit(0));
};
