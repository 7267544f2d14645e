import { readPlaced } from './card.ts';
import type { Interners } from './index-build.ts';
import type { Lexicon } from './lexicon.ts';
import type { NameBook } from './name-book.ts';
import type { Field } from './segment.ts';
import { placedField } from './segment-builder.ts';

/** The names of the authors as a field, made again when one of them changed or one was added. */
export const createAuthorField = (interners: Interners, names: NameBook) => {
  let field: Field | null = null;
  let seen = 0;
  let made: Lexicon | null = null;
  const isCurrent = (lexicon: Lexicon): boolean => {
    const changed = names.changes().slice(seen);
    seen = names.changes().length;
    const count = interners.authors.texts().length + 1;
    return made === lexicon && field?.count === count && !changed.some((id) => interners.authors.find(id) !== null);
  };
  return (lexicon: Lexicon): Field => {
    if (!isCurrent(lexicon) || field === null) {
      const tokens = ['', ...interners.authors.texts().map(names.nameOf)].map((name) =>
        readPlaced(name).flatMap((token) => [lexicon.intern(token.text), token.start, token.end]),
      );
      field = placedField(tokens.length, (author) => tokens[author] ?? [], { renumber: (id) => id, bound: lexicon.size() });
      made = lexicon;
    }
    return field;
  };
};
