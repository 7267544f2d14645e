import { describe, expect, it } from '@jest/globals';
import { type Markup, markup, pageOf } from './markup.ts';

const HOSTILE = `<script>alert('1')</script>&"`;
const ESCAPED = '&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;';

describe('a template of markup', () => {
  it('[case 48] escapes every value, as text and in an attribute', () => {
    expect(markup`<p title="${HOSTILE}" lang='${HOSTILE}'>${HOSTILE}</p>`.text).toBe(
      `<p title="${ESCAPED}" lang='${ESCAPED}'>${ESCAPED}</p>`,
    );
  });

  it('takes what it has made itself as it is, and lists of both', () => {
    const items = ['a & b', 7].map((item) => markup`<li>${item}</li>`);
    expect(markup`<ul>${items}</ul>${['x', '<']}`.text).toBe('<ul><li>a &amp; b</li><li>7</li></ul>x&lt;');
  });

  it('leaves out what is absent', () => {
    const isTicked: boolean = [].length > 0;
    expect(markup`<input ${isTicked && markup`checked`}>${null}|${[]}`.text).toBe('<input >|');
    expect(markup`<input ${markup`checked`}>`.text).toBe('<input checked>');
  });

  it('does not take an object that claims to be markup', () => {
    // @ts-expect-error: only `markup` makes it.
    const forged: Markup = JSON.parse('{"text":"<b>"}') as { readonly text: string };
    expect(() => markup`<p title="${forged}"></p>`).toThrow(TypeError);
    expect(() => markup`<p>${forged}</p>`).toThrow(TypeError);
  });

  it.each([
    ['without quotes', () => markup`<p title=${'a onclick=b'}></p>`],
    ['among attributes', () => markup`<p ${'onclick=b'}></p>`],
    ['as the name of an element', () => markup`<${'script'}></p>`],
    ['as a part of a name', () => markup`<p data-${'x'}="1"></p>`],
    ['in a script', () => markup`<script>${'alert(1)'}</script>`],
    ['in a style', () => markup`<style>p { color: ${'red'} }</style>`],
    ['that is a script by its attribute', () => markup`<p onclick="f('${'x'}')"></p>`],
    ['that is a style by its attribute', () => markup`<p title="a" STYLE='color: ${'red'}'></p>`],
    ['that is a page by its attribute', () => markup`<iframe srcdoc = "${'<b>'}"></iframe>`],
    ['as an attribute that markup is put into', () => markup`<p title="${markup`<b>`}"></p>`],
  ])('refuses a value %s, where escaping does not help', (_place, write) => {
    expect(write).toThrow(TypeError);
  });

  it.each(['javascript:alert(1)', ' javascript:alert(1)', 'JavaScript:x', 'data:text/html,x', 'vbscript:x', ''])(
    'links to no script: "%s"',
    (url) => {
      expect(() => markup`<a href="${url}">a</a>`).toThrow(TypeError);
      expect(() => markup`<form action='${url}'></form>`).toThrow(TypeError);
      expect(() => markup`<p><button formAction = "${url}"></button></p>`).toThrow(TypeError);
    },
  );

  it.each(['/app/keys?a=1&b=2', '?page=2', '#main', 'https://a.test/', 'http://127.0.0.1', 'mailto:a@b.test'])('links to %s', (url) => {
    expect(markup`<a href="${url}">a</a>`.text).toBe(`<a href="${url.replace('&', '&amp;')}">a</a>`);
    expect(markup`<a href="/x?to=${url}">a</a>`.text).toContain(url.replace('&', '&amp;'));
  });
});

describe('a page', () => {
  it('has a title, a language, a main part and both colour schemes', () => {
    const { text } = pageOf({ title: 'Keys & more', nav: markup`<a href="/app/">Home</a>`, main: markup`<h1>Keys</h1>` });
    expect(text).toContain('<title>Keys &amp; more</title>');
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('<a class="skip" href="#main">Skip to the content</a><nav><a href="/app/">Home</a></nav>');
    expect(text).toContain('</nav><main id="main"><h1>Keys</h1></main>');
    expect(pageOf({ title: 'Sign in', main: markup`<h1>Sign in</h1>` }).text).toContain('<body><main><h1>Sign in</h1></main></body>');
    expect(text).toContain('prefers-color-scheme: dark');
  });
});
