import type { IncomingMessage } from 'node:http';

/** Every value of a header as sent; node joins or drops repeated ones in `headers`. `name` in lower case. */
export const headerValues = (req: IncomingMessage, name: string): readonly string[] =>
  req.rawHeaders.filter((_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === name);
