import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readGatewayConfig } from '@bubbles/gateway/config.ts';
import { localEnvironment, readProcessConfig } from '@bubbles/host/variables.ts';
import type { Part } from '@bubbles/services/deployment.ts';
import { PRODUCT } from '@bubbles/services/product.ts';
import { at, listAt, type Manifest, nameOf, ofKind, type Pod, partPods, settingsOf, textAt } from './cluster-objects.ts';
import type { Rule } from './pod-rules.ts';

const FILE = '_FILE';
const FOLDER = '/run/secrets/bubbles';
const PUBLIC_KEYS = 'CALLER_KEYS';

const isKept = ({ name, isSecret }: Part['variables'][number]): boolean => isSecret || name === PUBLIC_KEYS;
/** The keys of its Secret that its settings name. */
const filesOf = (settings: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(settings).flatMap((name) => (name.endsWith(FILE) ? [name.slice(0, -FILE.length)] : []));

const faultsOf = (part: Part, settings: Readonly<Record<string, string>>): readonly string[] => {
  const files = filesOf(settings);
  const plain = Object.keys(settings).filter((name) => !name.endsWith(FILE));
  const known = new Map(part.variables.map((variable) => [variable.name, variable]));
  return [
    ...[...files, ...plain].filter((name) => !known.has(name)).map((name) => `${part.name} reads no ${name}`),
    ...part.variables
      .filter(({ name, isRequired }) => isRequired && !files.includes(name) && !plain.includes(name))
      .map(({ name }) => `${part.name} needs ${name}`),
    ...part.variables
      .filter((variable) => isKept(variable) && plain.includes(variable.name))
      .map(({ name }) => `${part.name} has ${name} in its settings`),
    ...part.variables
      .filter((variable) => !isKept(variable) && files.includes(variable.name))
      .map(({ name }) => `${part.name} has ${name} as a secret`),
    ...files.filter((name) => settings[name + FILE] !== `${FOLDER}/${name}`).map((name) => `${part.name} looks for ${name} elsewhere`),
  ];
};

const PRIVATE_KEY = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const PUBLIC_KEY = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
/** What a platform would keep in the secrets that overlays name. */
const KEPT: Readonly<Record<string, string>> = {
  MONGODB_URL: 'mongodb://mongodb:27017',
  AMQP_URL: 'amqp://rabbitmq:5672',
  SERVICE_KEY: PRIVATE_KEY,
  SMTP_URL: 'smtp://mail.example.com:587',
  RECALL_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
};

/** As its process would read it, with secrets of the right form. */
const whyUnreadable = (part: Part, settings: Readonly<Record<string, string>>): string | null => {
  const definition = PRODUCT.definitions.find(({ name }) => name === part.name);
  const machine = {
    publicBaseUrl: '',
    keyId: 'k1',
    secret: (_name: string, bytes: number) => randomBytes(bytes),
    folder: () => '',
    callerKeys: () => `gateway=${PUBLIC_KEY}`,
    serviceKey: () => ({}),
    urls: () => '',
  };
  const made = definition === undefined ? {} : localEnvironment(definition, machine, {});
  const secrets = filesOf(settings).map((name) => [name, KEPT[name] ?? made[name as keyof typeof made] ?? 'secret']);
  const plain = Object.entries(settings).filter(([name]) => !name.endsWith(FILE));
  const environment = Object.fromEntries([...plain, ...secrets]);
  try {
    if (definition !== undefined) readProcessConfig(definition, environment);
    else if (part.kind === 'gateway') readGatewayConfig(environment);
    return null;
  } catch (error) {
    return `${part.name}: ${Error.isError(error) ? error.message : String(error)}`;
  }
};

const keysOf = (secret: Manifest): readonly string[] => listAt(secret, 'spec.data').map((entry) => textAt(entry, 'secretKey'));

export const settingRules = (parts: readonly Part[]): Readonly<Record<string, Rule>> => {
  const ofEach =
    (faults: (part: Part, settings: Readonly<Record<string, string>>, pod: Pod) => readonly string[]): Rule =>
    (manifests) =>
      partPods(manifests).flatMap((pod) => {
        const part = parts.find(({ name }) => name === nameOf(pod));
        return part === undefined ? [] : faults(part, settingsOf(pod, manifests), pod);
      });
  return {
    'each part is told what it reads, nothing else': ofEach(faultsOf),
    'each part can read what it is told': ofEach((part, settings) => [whyUnreadable(part, settings) ?? []].flat()),
    'the secret of each part has the keys that its settings name': (manifests) => {
      const kept = ofKind(manifests, 'ExternalSecret');
      return kept.length === 0
        ? []
        : ofEach((part, settings) => {
            const secret = kept.find((one) => at(one, 'spec.target.name') === part.name);
            const keys = secret === undefined ? [] : keysOf(secret);
            const files = filesOf(settings);
            return [...files.filter((name) => !keys.includes(name)), ...keys.filter((name) => !files.includes(name))].map(
              (name) => `${part.name}: ${name}`,
            );
          })(manifests, '');
    },
    'each queue of a worker scales it': (manifests) => {
      const scaled = ofKind(manifests, 'ScaledObject');
      return scaled.flatMap((one) => {
        const part = parts.find(({ name }) => name === textAt(one, 'spec.scaleTargetRef.name'));
        const queues = listAt(one, 'spec.triggers').map((trigger) => textAt(trigger, 'metadata.queueName'));
        const wanted = (part?.consumes ?? []).map((type) => `${part?.name}.${type}`);
        return wanted.every((queue) => queues.includes(queue)) && queues.filter((queue) => queue !== '').length === wanted.length
          ? []
          : [one.metadata.name];
      });
    },
  };
};
