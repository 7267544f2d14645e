import { API_ERRORS } from '@bubbles/contracts/access.ts';
import type { Service } from '@bubbles/host/service.ts';
import { openApiFragment } from '@bubbles/http/document/openapi.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';

/** Each service as its definition composes it, not started: what it serves and consumes can be read off. */
export const everyService = (): readonly Service[] => PRODUCT.definitions.map((definition) => openTestService(definition).service);

export const fragmentOf = ({ name, routes, webhooks }: Service) => openApiFragment({ name, routes, webhooks, errors: API_ERRORS });
