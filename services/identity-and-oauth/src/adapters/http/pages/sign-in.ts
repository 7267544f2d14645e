import { type Markup, markup, pageOf } from '@bubbles/http/routes/markup.ts';

const page = (title: string, main: Markup): Markup => pageOf({ title, main: markup`<h1>${title}</h1>${main}` });

/** What is wrong with the field that it stands under. */
const problemOf = (problem: string | null): Markup => markup`<p class="bad" id="problem" role="alert">${problem}</p>`;
const marked = (problem: string | null): Markup => (problem === null ? markup`` : markup` aria-invalid="true"`);

interface AddressForm {
  readonly address: string;
  readonly returnTo: string;
  readonly token: string;
  readonly problem: string | null;
}

export const addressPage = ({ address, returnTo, token, problem }: AddressForm): Markup =>
  page(
    'Sign in',
    markup`<p>Type your e-mail address. We mail you a code. If there is no account with this address, you can open one.</p>
<form method="post" action="/app/sign-in">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="return_to" value="${returnTo}">
<label for="address">E-mail address</label>
<input type="email" id="address" name="address" value="${address}" required autocomplete="email" autofocus aria-describedby="problem"${marked(problem)}>
${problemOf(problem)}
<button>Send me a code</button>
</form>`,
  );

interface NextForm {
  readonly signInId: string;
  readonly address: string;
  readonly returnTo: string;
  readonly token: string;
  readonly problem: string | null;
}

const startAgain = (returnTo: string): string => `/app/sign-in?return_to=${encodeURIComponent(returnTo)}`;

export const codePage = ({ signInId, address, returnTo, token, problem }: NextForm): Markup =>
  page(
    'Type the code',
    markup`<p>We have mailed a code to <strong><bdi>${address}</bdi></strong>. It is good for 10 minutes, in this browser.</p>
<form method="post" action="/app/sign-in/${signInId}">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="return_to" value="${returnTo}">
<label for="code">Code of six digits</label>
<input type="text" id="code" name="code" required inputmode="numeric" autocomplete="one-time-code" autofocus aria-describedby="problem"${marked(problem)}>
${problemOf(problem)}
<button>Sign in</button>
</form>
<p><a href="${startAgain(returnTo)}">Use another address or ask for another code</a></p>`,
  );

export const namePage = ({ signInId, address, returnTo, token, problem }: NextForm): Markup =>
  page(
    'Open an account',
    markup`<p>There is no account with the address <strong><bdi>${address}</bdi></strong> yet. Say your name, and it is opened.</p>
<form method="post" action="/app/sign-in/${signInId}/account">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="return_to" value="${returnTo}">
<label for="name">Your name</label>
<input type="text" id="name" name="name" required autocomplete="name" autofocus aria-describedby="problem"${marked(problem)}>
${problemOf(problem)}
<button>Open the account</button>
</form>
<p><a href="${startAgain(returnTo)}">Use another address</a></p>`,
  );

export const overPage = (returnTo: string): Markup =>
  page(
    'This code is over',
    markup`<p>It was used, it has expired, it was tried too often, or it was asked for in another browser.</p>
<p><a href="${startAgain(returnTo)}">Sign in with a new code</a></p>`,
  );

export const closedPage = (returnTo: string): Markup =>
  page(
    'This account is closed',
    markup`<p>Whoever runs this service can open it again.</p><p><a href="${startAgain(returnTo)}">Sign in with another address</a></p>`,
  );
