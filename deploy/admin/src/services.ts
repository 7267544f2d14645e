import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { OPERATED, OPERATOR } from '@bubbles/contracts/services.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { baseUrl, signingKey } from '@bubbles/kernel/config-values.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import { type AdminCall, callTo, type PagedCall, type SealsCall } from './command.ts';

const DEADLINE_MS = 30_000;
const OperatorAccess = z.object({ OPERATOR_KEY: signingKey() });
const Redeliveries = z.object({ matching: z.int().nullable(), next_after: z.string().nullable() });
const SealsPage = z.object({
  newest_key: z.string(),
  keys: z.array(z.string()),
  sealed: z.record(z.string(), z.int()),
  resealed: z.int(),
  unreadable: z.record(z.string(), z.int()),
  next_after: z.string().nullable(),
  carried_seconds: z.int(),
});
type SealsPage = z.infer<typeof SealsPage>;
const RebuiltPage = z.object({ accounts: z.number(), next_after: z.string().nullable() });

/** A service refused the command or did not confirm it; the message is for the terminal. */
export class Refused extends Error {}

type Ask = (call: AdminCall) => Promise<unknown>;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
const Envelope = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

const refusal = (service: string, response: Response, text: string): Refused => {
  const { data } = Envelope.safeParse(jsonOf(text));
  const why = data ? `${data.error.type}: ${data.error.message}` : 'the answer is none of our services; look at the address';
  return new Refused(`${service} refused (${response.status}) ${why} [request ${response.headers.get('x-request-id') ?? 'unknown'}]`);
};

/** What the connection says: `fetch` itself says only that it failed. */
const rootMessage = (error: unknown): string => {
  if (!Error.isError(error)) return String(error);
  return Error.isError(error.cause) ? rootMessage(error.cause) : error.message || String(errorCode(error));
};

/** Asks services by the addresses and the key of the environment; the answer is null when it has no body. Rejects with `Refused`. */
export const asker = (environment: Environment, operator: string | null): Ask => {
  const asOperator = (service: AdminCall['service']) => {
    const name = OPERATED.find((one) => one.service === service)?.urlVariable ?? '';
    const { [name]: url } = readConfig(OperatorAccess.extend({ [name]: baseUrl() }), environment);
    const { OPERATOR_KEY: key } = readConfig(OperatorAccess, environment);
    return { url: String(url), tokens: serviceTokens({ caller: OPERATOR, key, clock: systemClock() }) };
  };
  return async ({ service, method, path, body }) => {
    const { url, tokens } = asOperator(service);
    const request = {
      method,
      headers: {
        authorization: await tokens.authorizationFor(service),
        ...(operator !== null && { 'x-operator-name': operator }),
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      body: body === null ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    };
    const exchange = async () => {
      const response = await fetch(`${url}/internal/v1/admin/${path}`, request);
      return { response, text: await response.text() };
    };
    const { response, text } = await exchange().catch((cause: unknown) => {
      const unknown = method === 'GET' ? '' : ' The change may have been made. Look before you repeat it.';
      throw new Refused(`${service} did not answer: ${rootMessage(cause)}.${unknown}`, { cause });
    });
    if (!response.ok) throw refusal(service, response, text);
    if (text === '') return null;
    const answer = jsonOf(text);
    if (answer === null) throw refusal(service, response, text);
    return answer;
  };
};

interface Page {
  readonly next_after: string | null;
}

/** Calls one page at a time, so that no call takes long. */
async function* pagesOf<P extends Page>(read: (after: string | null) => Promise<P>): AsyncGenerator<P> {
  let page = await read(null);
  yield page;
  while (page.next_after !== null) {
    page = await read(page.next_after);
    yield page;
  }
}

const added = (totals: Readonly<Record<string, number>>, counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> => ({
  ...totals,
  ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, (totals[name] ?? 0) + count])),
});

/** Sums of the counts over all pages of a call. */
export const askPages = async (ask: Ask, { pages, call }: PagedCall): Promise<Readonly<Record<string, number>>> => {
  const read = async (after: string | null) => {
    const answer = await ask(after === null ? call : { ...call, body: { ...Object(call.body), after } });
    if (pages === 'people') return RebuiltPage.parse(answer);
    const { matching, next_after } = Redeliveries.parse(answer);
    return { matching: matching ?? 0, next_after };
  };
  let totals: Readonly<Record<string, number>> = {};
  for await (const { next_after: _, ...counts } of pagesOf(read)) totals = added(totals, counts);
  return totals;
};

/** Runs all pages of a service. Rejects with `Refused` when two replicas have different keys, which means that a roll-out is in progress. */
const walkSeals = async (ask: Ask, service: AdminCall['service'], dry_run: boolean) => {
  let total: SealsPage | null = null;
  const read = async (after: string | null) => SealsPage.parse(await ask(callTo(service)('POST', 'seals', { after, dry_run })));
  for await (const page of pagesOf(read)) {
    const { keys, sealed, unreadable, resealed }: SealsPage = total ?? { ...page, sealed: {}, unreadable: {}, resealed: 0 };
    if (page.keys.join() !== keys.join())
      throw new Refused(
        `${service}: one replica has the keys ${keys.join(', ')}, another one ${page.keys.join(', ')}. Finish the roll-out, then repeat this.`,
      );
    total = {
      ...page,
      sealed: added(sealed, page.sealed),
      unreadable: added(unreadable, page.unreadable),
      resealed: resealed + page.resealed,
    };
  }
  if (total === null) throw new Refused(`${service} told nothing of its keys`);
  return total;
};

const sealsOf = async (ask: Ask, service: AdminCall['service'], renews: boolean) => {
  const resealed = renews ? (await walkSeals(ask, service, false)).resealed : 0;
  const { newest_key, keys, sealed, unreadable, carried_seconds } = await walkSeals(ask, service, true);
  return {
    service,
    newest_key,
    sealed,
    resealed,
    unreadable,
    /** Keys that no stored value needs any more. */
    free_keys: keys.filter((key) => key !== newest_key && !(key in sealed)),
    keep_free_keys_seconds_after_roll_out: carried_seconds,
    isDone: Object.keys(unreadable).length === 0 && (!renews || Object.keys(sealed).every((key) => key === newest_key)),
  };
};

interface SealsReport {
  /** True when a key opens every value and, after re-sealing, that key is the newest. */
  readonly isDone: boolean;
  readonly report: readonly object[];
}

/** Number of sealed values by service and key; re-seals them first unless this is a dry run. */
export const askSeals = async (ask: Ask, { seals, services }: SealsCall): Promise<SealsReport> => {
  const found: Awaited<ReturnType<typeof sealsOf>>[] = [];
  for (const service of services) found.push(await sealsOf(ask, service, seals === 'renew'));
  return { isDone: found.every(({ isDone }) => isDone), report: found.map(({ isDone: _, ...report }) => report) };
};
