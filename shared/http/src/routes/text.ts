/** A NUL or half of a surrogate pair is not text: stores and receivers would keep something else than what was sent. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

export const PLAIN_TEXT_RULE = 'must be well-formed text without NUL';
