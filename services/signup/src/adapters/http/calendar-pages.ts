import { type Markup, markup, pageOf } from '@bubbles/http/routes/markup.ts';
import type { CalendarProviderName } from '../../domain/calendar.ts';

const TITLES: Readonly<Record<CalendarProviderName, string>> = { google: 'Google', microsoft: 'Microsoft' };

const page = (title: string, main: Markup): Markup => pageOf({ title, main: markup`<h1>${title}</h1>${main}` });
const COMPLETE = markup`<p>Your signup is complete without a calendar. You can close this page.</p>`;
const AGAIN = 'Open the link that your assistant gave you once more, in this browser.';

/** What became of a link or a consent, as its user reads it. */
export const calendarPages = (provider: CalendarProviderName) => {
  const name = TITLES[provider];
  const nothing = (text: string): Markup => page('No calendar was connected', markup`<p>${text}</p>${COMPLETE}`);
  return {
    /** Shows the address, so that a person with somebody else's link notices. */
    ask: (address: string, consentUrl: string): Markup =>
      page(
        `Connect your ${name} calendar`,
        markup`<p>Your calendar will be connected to the account of <strong><bdi>${address}</bdi></strong>, which can read its events from then on. Go on only if this is your address.</p>
<p><a href="${consentUrl}">Continue to ${name}</a></p>${COMPLETE}`,
      ),
    connected: page(
      'Calendar connected',
      markup`<p>Your ${name} calendar is connected. You can close this page and go back to your assistant.</p>`,
    ),
    notConfigured: page('Not available here', markup`<p>This installation is not set up to connect ${name} calendars.</p>${COMPLETE}`),
    over: page(
      'This link is over',
      markup`<p>A link that connects a calendar is good for an hour after the signup began. This one is over, or was not copied whole.</p>${COMPLETE}`,
    ),
    denied: nothing(`You did not allow access to your ${name} calendar.`),
    failed: nothing(`${name} ended the consent without an answer that can be used. ${AGAIN}`),
    incomplete: nothing(
      `${name} did not give lasting access to your calendar. ${AGAIN} On the page of ${name}, leave the calendar ticked.`,
    ),
    refused: nothing(`${name} says that this consent was used before, or took too long. ${AGAIN}`),
    strange: nothing(`This browser did not begin this consent, or began it more than ten minutes ago, or keeps no cookies. ${AGAIN}`),
  };
};
