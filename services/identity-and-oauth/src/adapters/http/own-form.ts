import type { Guard, GuardRequest } from '@bubbles/http/routes/guard.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { isFormToken } from '../../domain/form-token.ts';

/** Values of `Sec-Fetch-Site` for requests that no other site caused. */
const OWN_SITES: readonly string[] = ['same-origin', 'none'];

/** A page that sends no referrer has the origin "null" in its own forms, so that this alone refuses nothing. */
const isFromOwnPage = ({ header, publicBaseUrl }: GuardRequest): boolean =>
  header('sec-fetch-site').every((site) => OWN_SITES.includes(site)) &&
  header('origin').every((origin) => origin === 'null' || origin === publicBaseUrl);

/** For the forms of our own pages: what another site's page sends is refused before anything is read, beside the token that each form has. */
export const ownForm = <I extends object, Ports>(guard: Guard<I, Ports>): Guard<I, Ports> => ({
  ...guard,
  refusals: [...guard.refusals, 'forbidden'],
  admit: (request, ports) =>
    isFromOwnPage(request)
      ? guard.admit(request, ports)
      : Promise.reject(new DomainError('forbidden', 'This form was sent by a page of another site. Nothing was changed.')),
});

/** Refuses a form that no page of this session had; `about` is what its page was made for. */
export const checkFormToken = (sent: string, secret: string, about: readonly string[]): void => {
  if (!isFormToken(sent, secret, about))
    throw new DomainError(
      'forbidden',
      'This form belongs to another session. Nothing was changed. Go back, load the page again and send the form once more.',
    );
};
