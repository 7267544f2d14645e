export type JsonObject = { readonly [key: string]: unknown };

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of a value that may not be an object. */
export const membersOf = (value: unknown): readonly (readonly [string, unknown])[] => (isObject(value) ? Object.entries(value) : []);

export const byName = <T>([a]: readonly [string, T], [b]: readonly [string, T]): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

/** The value that a text stands for; undefined when it is not JSON. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (Error.isError(error) && error.name === 'SyntaxError') return undefined;
    throw error;
  }
};
