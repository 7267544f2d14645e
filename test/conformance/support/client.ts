export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The tests say what they expect of it.
  // biome-ignore lint/suspicious/noExplicitAny: the body of an answer is what is under test
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  /** A bearer token. */
  readonly as?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request to the public API. */
export async function send(baseUrl: string, path: string, { method = 'GET', as, body, headers = {} }: Call = {}): Promise<Answer> {
  const response = await fetch(baseUrl + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /^application\/([a-z-]+\+)?json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, json: isJson && text !== '' ? JSON.parse(text) : null };
}

/** Every row of a list, page by page. */
export async function walk(baseUrl: string, path: string, as: string): Promise<{ readonly id: string }[]> {
  const rows: { readonly id: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer = await send(baseUrl, cursor === '' ? path : `${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`, { as });
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${page.text}`);
    for (const one of page.json.data) rows.push(one);
    cursor = page.json.next_cursor;
  }
  return rows;
}
