import { GATEWAY } from '@bubbles/contracts/services.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Operation } from '../documents/fragment.ts';
import { type OwnedPrefixes, ownerOf } from '../documents/ownership.ts';
import type { Resource } from '../documents/routing-table.ts';
import { answer, fail, refuse } from '../exchange/answer.ts';
import { isOpen, preflightHeaders } from '../exchange/cross-origin.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FragmentPoll } from '../fragments/fragment-poll.ts';
import type { FragmentRegistry } from '../fragments/registry.ts';

interface RoutingOptions {
  readonly registry: FragmentRegistry;
  readonly poll: FragmentPoll;
  /** Of the services that are configured. */
  readonly prefixes: OwnedPrefixes;
}

export type RouteRequest = (exchange: Exchange) => Operation | null | Promise<Operation | null>;

const NOT_FOUND = new DomainError('not_found', 'Not found.');

const operationOf = (resource: Resource | null, method: string): Operation | null =>
  resource?.operations.get(method === 'HEAD' ? 'GET' : method) ?? null;

/** Finds the operation that is asked for; answers OPTIONS and what there is not itself and gives null then. Credentials have no say here. */
export const requestRouting = ({ registry, poll, prefixes }: RoutingOptions): RouteRequest => {
  /** A service may have begun to offer more since it was asked last. */
  const lookAgain = async (exchange: Exchange): Promise<Operation | null> => {
    const owner = ownerOf(exchange.path, prefixes);
    if (owner !== null && owner !== GATEWAY) await poll.discover(owner);
    const resource = registry.table().match(exchange.path);
    const operation = operationOf(resource, exchange.method);
    if (operation !== null) return operation;
    if (resource === null && owner !== null && owner !== GATEWAY && !registry.knows(owner)) fail(exchange, 'upstream-down');
    else refuse(exchange, { error: NOT_FOUND, headers: resource === null ? [] : ['Allow', resource.allow] });
    return null;
  };
  return (exchange) => {
    const resource = registry.table().match(exchange.path);
    if (resource !== null && exchange.method === 'OPTIONS') {
      tellOptions(exchange, resource);
      return null;
    }
    return operationOf(resource, exchange.method) ?? lookAgain(exchange);
  };
};

const tellOptions = (exchange: Exchange, { allow }: Resource): void => {
  const crossOrigin = isOpen(exchange.path) ? preflightHeaders(allow) : [];
  answer(exchange, { status: 204, headers: ['Allow', allow, ...crossOrigin], body: '' });
};
