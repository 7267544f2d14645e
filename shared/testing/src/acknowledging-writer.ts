import { argv, stdout } from 'node:process';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { memoryLog } from './memory-log.ts';

interface Note {
  readonly _id: string;
  readonly n: number;
}

/** Writes for ever, several at a time, and prints the number of each write once it was answered: a process to be killed. */
const [path = '', from = '0'] = argv.slice(2);
const notes = openEmbedded({ path, log: memoryLog() }).database('test').collection<Note>('notes');

const write = async (n: number): Promise<void> => {
  await notes.insert({ _id: `n${n}`, n });
  await notes.updateOne({ _id: 'last' }, { $max: { n } }, { upsert: true });
  stdout.write(`${n}\n`);
};

for (let n = Number(from); ; n += 3) await Promise.all([write(n), write(n + 1), write(n + 2)]);
