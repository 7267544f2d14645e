import { outgoing } from '@bubbles/bus/outgoing.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import type { AccountChanged } from '../../ports.ts';

/** The id is that of the fact, so that a message that is sent again counts once. */
export const accountChanged: AccountChanged = ({ id, state, name, email, pictureUrl, revision }) =>
  outgoing(
    AccountChangedV1,
    { user_id: id, state, name, email, picture_url: pictureUrl, revision },
    { id: `${id}:${revision}`, subject: id },
  );
