/** What a page or a redirect came to. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  readonly forms: readonly Form[];
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  /** Whether it is sent as the page came: text always, a box when it is ticked, a button never. */
  readonly sent: boolean;
}

export interface Form {
  readonly action: string;
  readonly method: string;
  readonly fields: readonly Field[];
}

/** What the user does with a form. */
export interface Filled {
  /** By the name of the field. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Values of boxes that the user unticks. */
  readonly untick?: readonly string[];
  /** The value of the button that is pressed. */
  readonly press?: string;
}

/** A browser without scripts: it keeps cookies, follows redirects and sends forms. */
export interface FormBrowser {
  /** Follows redirects as long as they stay here; the page is empty when they lead away, and its `url` says where to. */
  open(url: string | URL): Promise<Page>;
  /** Sends a form of a page and follows as `open` does. */
  submit(page: Page, filled?: Filled, form?: Form): Promise<Page>;
  /** The cookies that it would send there. */
  cookies(url: string | URL): string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const decoded = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });

const TAG = /<(\/?form|input|button)\b((?:"[^"]*"|'[^']*'|[^'">])*)>/gi;
const ATTRIBUTE = /([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi;

const attributesOf = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(ATTRIBUTE)].map(([, name = '', ...values]) => [name.toLowerCase(), decoded(values.find(Boolean) ?? '')]));

const fieldOf = (tag: string, attributes: ReadonlyMap<string, string>): Field => {
  const type = tag === 'button' ? 'submit' : (attributes.get('type') ?? 'text');
  const isBox = type === 'checkbox' || type === 'radio';
  const sent = type !== 'submit' && (!isBox || attributes.has('checked'));
  return { name: attributes.get('name') ?? '', type, value: attributes.get('value') ?? (isBox ? 'on' : ''), sent };
};

const formsIn = (html: string): readonly Form[] => {
  const forms: { action: string; method: string; fields: Field[] }[] = [];
  for (const [, tag = '', text = ''] of html.matchAll(TAG)) {
    const attributes = attributesOf(text);
    const name = tag.toLowerCase();
    if (name === 'form')
      forms.push({ action: attributes.get('action') ?? '', method: (attributes.get('method') ?? 'get').toUpperCase(), fields: [] });
    else if (name !== '/form') forms.at(-1)?.fields.push(fieldOf(name, attributes));
  }
  return forms;
};

const bodyOf = (form: Form, { fields = {}, untick = [], press }: Filled): URLSearchParams => {
  const unknown = Object.keys(fields).filter((name) => !form.fields.some((field) => field.name === name));
  if (unknown.length > 0) throw new Error(`the form has no field ${unknown.join(', ')}`);
  const pressed = form.fields.find(({ type, value }) => type === 'submit' && value === press);
  if (press !== undefined && pressed === undefined) throw new Error(`the form has no button ${press}`);
  const sent = form.fields.filter(({ name, value, sent: is }) => is && name !== '' && !untick.includes(value));
  const body = new URLSearchParams(sent.map(({ name, value }) => [name, fields[name] ?? value]));
  if (pressed !== undefined && pressed.name !== '') body.append(pressed.name, pressed.value);
  return body;
};

const MOVED: ReadonlySet<number> = new Set([301, 302, 303]);
const MAX_REDIRECTS = 10;

interface FormBrowserOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Cookies of the whole site that it comes with. */
  readonly cookies?: Readonly<Record<string, string>>;
}

export const createFormBrowser = ({ headers = {}, cookies: given = {} }: FormBrowserOptions = {}): FormBrowser => {
  const jar = new Map(Object.entries(given).map(([name, value]): [string, Cookie] => [`${name} /`, { name, value, path: '/' }]));

  const cookies = (url: string | URL): string => {
    const { pathname } = new URL(url);
    const matching = [...jar.values()].filter(
      ({ path }) => pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`),
    );
    return matching.map(({ name, value }) => `${name}=${value}`).join('; ');
  };

  const keep = (line: string): void => {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const attribute = (wanted: string) => attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const path = attribute('path') ?? '/';
    const isOver = attribute('max-age') === '0' || new Date(attribute('expires') ?? Number.NaN).getTime() < Date.now();
    if (isOver) jar.delete(`${name} ${path}`);
    else jar.set(`${name} ${path}`, { name, value, path });
  };

  const go = async (start: URL, first: RequestInit): Promise<Page> => {
    let [url, request] = [start, first];
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const cookie = cookies(url);
      const sent = { ...headers, ...(cookie === '' ? {} : { cookie }) };
      const response = await fetch(url, { ...request, redirect: 'manual', headers: sent });
      for (const line of response.headers.getSetCookie()) keep(line);
      const html = await response.text();
      const location = response.headers.get('location');
      if (!MOVED.has(response.status) || location === null)
        return { url, status: response.status, headers: response.headers, html, forms: formsIn(html) };
      const next = new URL(location, url);
      if (next.host !== url.host) return { url: next, status: response.status, headers: response.headers, html: '', forms: [] };
      [url, request] = [next, {}];
    }
    throw new Error(`${start}: more than ${MAX_REDIRECTS} redirects`);
  };

  return {
    open: (url) => go(new URL(url), {}),
    submit(page, filled = {}, form = page.forms[0]) {
      if (form === undefined) throw new Error(`${page.url} has no form: ${page.status} ${page.html}`);
      const body = bodyOf(form, filled);
      const target = new URL(form.action, page.url);
      if (form.method === 'POST') return go(target, { method: 'POST', body });
      target.search = body.toString();
      return go(target, {});
    },
    cookies,
  };
};
