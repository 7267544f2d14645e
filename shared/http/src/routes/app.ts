import { createRequire } from 'node:module';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { RouterContext } from '@koa/router';
import Koa, { type Context } from 'koa';
import { edge } from './edge.ts';
import { isCallerGone } from './http-errors.ts';
import { byPrecedence, checkRoutes } from './route.ts';
import { type HttpAppOptions, serveRoute } from './serve-route.ts';

/** Its form as a module of the new kind imports `http` as one too, for which Node loads all of its fetch. */
const Router: typeof import('@koa/router').default = createRequire(import.meta.url)('@koa/router');

/** The routes of a service on Koa. Paths are matched as raw bytes, case-sensitive and strict. */
export const createHttpApp = <Ports>(options: HttpAppOptions<Ports>): Koa => {
  checkRoutes(options.routes);
  const router = new Router({ sensitive: true, strict: true });
  for (const route of byPrecedence(options.routes)) {
    const serve = serveRoute(route, options);
    router.register(route.spec.path.replaceAll(/\{(\w+)\}/g, ':$1'), [route.spec.method], (ctx: RouterContext) =>
      serve(ctx, ctx.captures ?? []),
    );
  }
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!isCallerGone(error)) options.log.error('answer could not be written', { error });
  });
  app.use(edge(options));
  app.use((ctx, next) => {
    // The router would take the path that a URL parser has tidied up.
    ctx['newRouterPath'] = ctx.req.url?.split('?', 1)[0];
    return next();
  });
  app.use(router.routes());
  app.use(unmatched);
  return app;
};

/** Another method of a known path says which there are; an unknown path says nothing. */
const unmatched = (ctx: Context): void => {
  const matched: readonly { readonly methods: readonly string[] }[] = ctx['matched'] ?? [];
  const methods = new Set(matched.flatMap((layer) => layer.methods));
  if (methods.size > 0) ctx.set('Allow', [...methods, 'OPTIONS'].toSorted().join(', '));
  if (methods.size === 0 || ctx.method !== 'OPTIONS') throw new DomainError('not_found', 'No such path or method.');
  ctx.status = 204;
};
