import { bubblesQuery } from '@bubbles/bubbles-query/service.ts';
import type { EventDefinition } from '@bubbles/bus/bus.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import type { ServiceDefinition } from '@bubbles/host/service.ts';
import { identityAndOauth } from '@bubbles/identity-and-oauth/service.ts';
import { meetingsBotGateway } from '@bubbles/meetings-bot-gateway/service.ts';
import { signup } from '@bubbles/signup/service.ts';
import { webhooksDispatcher } from '@bubbles/webhooks-dispatcher/service.ts';

/** What sandbox, stack and tests run behind the gateway. */
export interface Product {
  /** In start order: a service comes after the services that it calls. */
  readonly definitions: readonly ServiceDefinition[];
  readonly services: ServiceTable;
  readonly events: readonly EventDefinition[];
}

export const PRODUCT: Product = {
  definitions: [identityAndOauth, bubblesQuery, webhooksDispatcher, meetingsBotGateway, signup],
  services: SERVICES,
  events: EVENTS,
};
