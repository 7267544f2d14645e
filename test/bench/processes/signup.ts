import { signupWith } from '@bubbles/signup/service.ts';
import { settings } from '../harness/in-child.ts';
import type { ServiceBehindIdentity } from './meetings.ts';
import { serveService } from './serve-service.ts';

export interface SignupBenchSettings extends ServiceBehindIdentity {
  /** The mail server takes connections and never answers. */
  readonly mailHangs: boolean;
}

const { identityUrl, serviceKey, mailHangs } = settings<SignupBenchSettings>();

const codes = new Map<string, PromiseWithResolvers<string>>();
const codeTo = (address: string): PromiseWithResolvers<string> => {
  const code = codes.get(address) ?? Promise.withResolvers<string>();
  codes.set(address, code);
  return code;
};
const mailTransport = () => ({
  deliver({ to, text }: { readonly to: string; readonly text: string }): Promise<void> {
    if (mailHangs) return Promise.withResolvers<void>().promise;
    codeTo(to).resolve(/\b\d{6}\b/.exec(text)?.[0] ?? '');
    return Promise.resolve();
  },
  close: () => Promise.resolve(),
});

await serveService({
  definition: signupWith((config) => ({ ...config, mailTransport })),
  environment: { IDENTITY_URLS: identityUrl, SERVICE_KEY: serviceKey, SIGNUP_STARTS_PER_CLIENT: '1000000' },
  seed: () => Promise.resolve(null),
  answer: async ({ codeOf }: { readonly codeOf: string }) => {
    const code = await codeTo(codeOf).promise;
    codes.delete(codeOf);
    return code;
  },
});
