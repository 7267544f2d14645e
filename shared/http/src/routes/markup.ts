const MARKUP: unique symbol = Symbol('markup');

/** HTML that is safe to send: only `markup` makes it. */
export interface Markup {
  readonly [MARKUP]: true;
  readonly text: string;
}

/** What may stand in a template. Text and numbers are escaped, a list is joined, null and false are left out. */
type Content = string | number | Markup | null | false | readonly Content[];

/**
 * Escapes every value, as text and within quotes alike; what `markup` has made stands as it is. A template that escaping cannot make safe is a
 * fault of the program and throws: a value of an attribute without quotes, text among attributes, in a script or in a style, a link that is no address.
 */
export const markup = (parts: TemplateStringsArray, ...values: readonly Content[]): Markup => {
  const places = placesOf(parts);
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += written(value, places[index] ?? 'text') + (parts[index + 1] ?? '');
  });
  return { [MARKUP]: true, text };
};

export const isMarkup = (value: unknown): value is Markup => typeof value === 'object' && value !== null && MARKUP in value;

/** Where a value of a template stands. */
type Place = 'text' | 'quoted' | 'address' | 'made only' | 'nothing';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/** No scheme that runs or holds a script. */
const ADDRESS = /^(?:https?:|mailto:|[/?#])/i;

const written = (value: Content, place: Place): string => {
  if (value === null || value === false) return '';
  if (isList(value)) return value.map((one) => written(one, place)).join('');
  if (typeof value === 'object') return made(value, place);
  if (place === 'made only' || place === 'nothing') throw new TypeError('No text may stand in this place of a template.');
  const text = String(value);
  if (place === 'address' && !ADDRESS.test(text)) throw new TypeError('A link leads to an address of the web or of mail.');
  return /[&<>"']/.test(text) ? text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '') : text;
};

// `Array.isArray` does not tell a readonly list from the rest.
const isList = (value: Content): value is readonly Content[] => Array.isArray(value);

const made = (value: Markup, place: Place): string => {
  if (!isMarkup(value)) throw new TypeError('Only markup is put into a template as it is.');
  if (place !== 'text' && place !== 'made only') throw new TypeError('No markup may stand in an attribute.');
  return value.text;
};

const known = new WeakMap<TemplateStringsArray, readonly Place[]>();

/** The same for each call of a template, so it is found once. */
const placesOf = (parts: TemplateStringsArray): readonly Place[] => {
  const places = known.get(parts) ?? readPlaces(parts);
  known.set(parts, places);
  return places;
};

const readPlaces = (parts: TemplateStringsArray): readonly Place[] => {
  let before = '';
  let state: State = 'text';
  return parts.slice(0, -1).map((part) => {
    before += part;
    state = stateAfter(part, state);
    return placeIn(state, before);
  });
};

type State = 'text' | 'tag' | '"' | "'";

const stateAfter = (part: string, from: State): State => {
  let state = from;
  for (let at = 0; at < part.length; at += 1) {
    const character = part[at] ?? '';
    if (state === 'text') state = character === '<' && /[a-z/!]/i.test(part[at + 1] ?? '/') ? 'tag' : 'text';
    else if (state === character) state = 'tag';
    else if (state === 'tag') state = inTag(character);
  }
  return state;
};

const inTag = (character: string): State => {
  if (character === '>') return 'text';
  return character === '"' || character === "'" ? character : 'tag';
};

const placeIn = (state: State, before: string): Place => {
  if (state === 'text') return /<(?:script|style)\b[^<]*$/i.test(before) ? 'made only' : 'text';
  if (state === 'tag') return /[=/<\w-]$/.test(before) ? 'nothing' : 'made only';
  const opened = before.lastIndexOf(state);
  const [attribute = ''] = /[\w:-]+(?=\s*=\s*$)/.exec(before.slice(0, opened)) ?? [];
  if (/^(?:on\w*|style|srcdoc)$/i.test(attribute)) return 'nothing';
  const isWhole = opened === before.length - 1;
  return isWhole && /^(?:href|src|action|formaction)$/i.test(attribute) ? 'address' : 'quoted';
};

const STYLE = markup`
:root { color-scheme: light dark; --text: #1c1c1e; --soft: #5b5b63; --back: #fff; --line: #8a8a93; --accent: #2b4fd0; --on-accent: #fff; --bad: #a8141f; }
@media (prefers-color-scheme: dark) {
  :root { --text: #f2f2f4; --soft: #b4b4bd; --back: #17171a; --line: #85858f; --accent: #9db2ff; --on-accent: #10142a; --bad: #ff9aa0; }
}
body { font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 0 auto; padding: 1.5rem 1rem; max-width: 40rem; overflow-wrap: anywhere; }
.skip:not(:focus) { position: absolute; left: -100vw; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0 0 1.5rem; padding: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.15rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
label { display: block; margin: 1rem 0 0.25rem; }
fieldset { border: 1px solid var(--line); border-radius: 0.375rem; }
fieldset label { margin: 0.25rem 0; }
input[type=text], input[type=email], input[type=url], select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 0.375rem; padding: 0.5rem; width: 100%; box-sizing: border-box; }
code, input[type=text][readonly] { font-family: ui-monospace, monospace; }
button { font: inherit; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 0.375rem; padding: 0.5rem 1rem; margin: 1rem 0.5rem 0 0; cursor: pointer; }
button.plain { color: var(--accent); background: var(--back); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.375rem 0.75rem 0.375rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
th[scope=row] { min-width: 6rem; }
td a, td button, td code { white-space: nowrap; }
td button { margin: 0; padding: 0.125rem 0.5rem; }
td ul { margin: 0; padding-left: 1rem; }
.soft { color: var(--soft); }
.bad { color: var(--bad); }
`;

/** A whole page as all pages look, light or dark as the reader has it: `main` begins with its heading, `nav` stands before it and may be skipped. */
export const pageOf = ({
  title,
  main,
  nav = null,
}: {
  readonly title: string;
  readonly main: Markup;
  readonly nav?: Markup | null;
}): Markup =>
  markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head>
<body>${nav === null ? markup`<main>${main}</main>` : markup`<a class="skip" href="#main">Skip to the content</a><nav>${nav}</nav><main id="main">${main}</main>`}</body></html>
`;
