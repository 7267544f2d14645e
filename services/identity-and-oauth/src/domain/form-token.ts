import { createHmac, timingSafeEqual } from 'node:crypto';

/** What only a page that we showed to this browser can send: nobody else knows the secret in its cookie. `about` names the form and what it decides on. */
export const formToken = (secret: string, about: readonly string[]): string =>
  createHmac('sha256', secret).update(JSON.stringify(about)).digest('base64url');

/** In the same time whatever is sent. */
export const isFormToken = (sent: string, secret: string, about: readonly string[]): boolean => {
  const [given, expected] = [Buffer.from(sent), Buffer.from(formToken(secret, about))];
  return given.length === expected.length && timingSafeEqual(given, expected);
};
