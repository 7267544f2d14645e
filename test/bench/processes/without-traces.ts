import { registerHooks } from 'node:module';

const UNTRACED = new URL('./untraced.ts', import.meta.url).href;

/** Given with `--import`: whoever imports the kernel's traces gets those that do nothing. */
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url.endsWith('/shared/kernel/src/trace.ts') ? { ...found, url: UNTRACED } : found;
  },
});
