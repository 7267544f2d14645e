import { registerHooks } from 'node:module';

const REAL = '/shared/kernel/src/trace.ts';
const SWITCHED = new URL('./switched-traces.ts', import.meta.url).href;

/** Given with `--import`: whoever imports the kernel's traces gets those that can be switched off, which alone import the real ones. */
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url.endsWith(REAL) && context.parentURL !== SWITCHED ? { ...found, url: SWITCHED } : found;
  },
});
