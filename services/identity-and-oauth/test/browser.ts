import type { TestIdentity } from './identity.ts';

/** A page as a browser has it. */
export interface ShownPage {
  readonly status: number;
  readonly headers: Headers;
  /** Where a redirect leads; null when it is none. */
  readonly location: string | null;
  readonly html: string;
  /** Without markup. */
  readonly text: string;
  readonly heading: string;
  /** Those that are sent to this path. */
  forms(action: string): readonly ShownForm[];
}

export interface ShownForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Browser {
  get(path: string): Promise<ShownPage>;
  /** `typed` is put into the form's fields. */
  send(form: ShownForm, typed?: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): Promise<ShownPage>;
}

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
const unescaped = (text: string): string => text.replaceAll(/&(?:lt|gt|quot|amp|#39);/g, (entity) => ENTITIES[entity] ?? '');

const attribute = (tag: string, name: string): string => unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

const formsIn = (html: string): readonly ShownForm[] =>
  [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', inside = '']) => ({
    action: attribute(head, 'action'),
    fields: Object.fromEntries([...inside.matchAll(/<input\b[^>]*>/g)].map(([tag]) => [attribute(tag, 'name'), attribute(tag, 'value')])),
  }));

const VOID = new Set(['meta', 'input', 'br', 'hr', 'img', 'link']);

/** What is wrong with the markup of a page: tags that are not closed in their order, ids that are there twice, labels for nothing. */
export const markupFaults = (html: string): readonly string[] => {
  const open: string[] = [];
  const faults: string[] = [];
  const body = html.replace(/<style>.*?<\/style>/gs, '');
  for (const [, end, name = ''] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)\b(?:[^>"]|"[^"]*")*>/g)) {
    if (end === '' && !VOID.has(name)) open.push(name);
    if (end === '/' && open.pop() !== name) faults.push(`</${name}> closes another element`);
  }
  const ids = [...body.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id ?? '');
  const named = [...body.matchAll(/\s(?:for|aria-labelledby|aria-describedby)="([^"]*)"/g)].flatMap(([, names = '']) => names.split(' '));
  return [
    ...faults,
    ...open.map((name) => `<${name}> is not closed`),
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id} is there twice`),
    ...named.filter((id) => !ids.includes(id)).map((id) => `${id} is named and not there`),
    ...(/<h1\b/.test(body) ? [] : ['there is no heading']),
  ];
};

const shown = async (response: Response): Promise<ShownPage> => {
  const html = await response.text();
  const text = unescaped(html.replace(/<head>.*?<\/head>/s, '').replaceAll(/<[^>]*>/g, '')).trim();
  return {
    status: response.status,
    headers: response.headers,
    location: response.headers.get('location'),
    html,
    text,
    heading: unescaped(/<h1\b[^>]*>(.*?)<\/h1>/s.exec(html)?.[1] ?? ''),
    forms: (action) => formsIn(html).filter((one) => one.action.split('?')[0] === action),
  };
};

/** A browser in which somebody is signed in; null: nobody is. It follows no redirect. */
export const browserOf = ({ fetch }: Pick<TestIdentity, 'fetch'>, session: string | null): Browser => {
  const cookies: Readonly<Record<string, string>> = session === null ? {} : { cookie: `__Host-session=${session}` };
  return {
    get: async (path) => shown(await fetch(path, { headers: cookies })),
    send: async ({ action, fields }, typed = {}, headers = { 'sec-fetch-site': 'same-origin', origin: 'null' }) =>
      shown(
        await fetch(action, { method: 'POST', headers: { ...cookies, ...headers }, body: new URLSearchParams({ ...fields, ...typed }) }),
      ),
  };
};

/** The one form of the page that is sent to this path. */
export const onlyForm = (page: ShownPage, action: string): ShownForm => {
  const [form, ...others] = page.forms(action);
  if (form === undefined || others.length > 0) throw new Error(`${page.heading}: not one form to ${action}`);
  return form;
};
