import { sandboxWorld } from './sandbox-world.ts';
import { stackWorld } from './stack-world.ts';
import type { World } from './world.ts';

const { STACK_URL } = process.env;

const needed = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is needed beside STACK_URL`);
  return value;
};

/** The world that the run is against: the sandbox, or with `STACK_URL` a product of many processes, whose gateway that is. */
export const openWorld = (): Promise<World> =>
  STACK_URL === undefined
    ? sandboxWorld()
    : stackWorld({
        baseUrl: STACK_URL,
        identityUrls: needed('IDENTITY_URL').split(','),
        meetingsUrls: needed('MEETINGS_URL').split(','),
        operatorKeyFile: needed('OPERATOR_KEY_FILE'),
        amqpUrl: needed('AMQP_URL'),
        mongoUrl: needed('MONGODB_URL'),
        mailFiles: needed('MAIL_FILES'),
        database: process.env['MONGODB_DATABASE'] ?? 'bubbles_query',
      });
