import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import { openKeys } from '../../deploy/keys/src/keys.ts';
import { secretFiles, writeSecrets } from '../../deploy/keys/src/secret-files.ts';
import { at, listAt, MANIFESTS, type Manifest, textAt } from '../kubernetes/cluster-objects.ts';
import { NODE_ADDRESS, startNode } from './cluster.ts';
import { imageArchive } from './images.ts';
import { openLoad } from './load.ts';

const NAMESPACE = 'bubbles';
const OVERLAY = join(import.meta.dirname, 'overlay');
const ADDRESSES = { broker: 'amqp://rabbitmq:5672', store: 'mongodb://mongodb:27017/?directConnection=true', mail: 'smtp://mailpit:1025' };
const LIMIT_MS = 180_000;

interface Place {
  readonly namespace: string;
  readonly pod: string;
}
/** Where the proxies of a platform run, which may ask the gateway. */
export const PROXY: Place = { namespace: 'gateways', pod: 'proxy' };
/** Has nothing to do with the product. */
export const STRANGER: Place = { namespace: 'strangers', pod: 'stranger' };

/** A pod that does nothing by itself, with the image of a part. */
const idlePod = ({ namespace, pod }: Place): string =>
  [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, namespace },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: pod, image: 'localhost/bubbles/gateway:local', command: ['node', '-e', 'setInterval(() => {}, 1e6)'] }],
      },
    },
  ]
    .map((one) => stringify(one))
    .join('---\n');

export const eventually = async <T>(what: string, find: () => Promise<T | null>): Promise<T> => {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const found = await find();
    if (found !== null) return found;
    if (performance.now() > deadline) throw new Error(`not in ${LIMIT_MS} ms: ${what}`);
    await pause(500);
  }
};

const isReady = (pod: Manifest): boolean =>
  listAt(pod, 'status.conditions').some((one) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True');

/** The product by the overlay of a laptop on a real node, with engines and clients as pods. */
export const productOnNode = async () => {
  const work = mkdtempSync(join(tmpdir(), 'real-node-'));
  const node = await startNode(await imageArchive());
  const kubectl = (...words: readonly string[]) => node.kubectl('--namespace', NAMESPACE, ...words);
  const apply = async (text: string) => {
    const { code, stderr } = await node.command('kubectl', ['apply', '--filename', '-'], text);
    if (code !== 0) throw new Error(stderr);
  };
  /** Runs a file of this folder, or the text of a program, in a pod. */
  const run = async ({ namespace, pod }: Place, program: string, ...words: readonly string[]): Promise<string> => {
    const start = ['exec', '--stdin', '--namespace', namespace, pod, '--', 'node', '--input-type=module', '-', ...words];
    const source = program.endsWith('.mjs') ? readFileSync(join(import.meta.dirname, program), 'utf8') : program;
    const { code, stdout, stderr } = await node.command('kubectl', start, source);
    if (code !== 0) throw new Error(`ended with ${code} in ${pod}: ${stderr}`);
    return stdout;
  };
  const podsOf = async (name: string): Promise<readonly Manifest[]> =>
    JSON.parse(await kubectl('get', 'pods', '--selector', `app.kubernetes.io/name=${name}`, '--output', 'json')).items;

  const deploy = async () => {
    const files = secretFiles({ keys: openKeys(join(work, 'made')), addresses: ADDRESSES });
    // The engine knows no logins.
    const known = [...files].map(([path, value]) => [path, path.endsWith('/MONGODB_URL') ? ADDRESSES.store : value] as const);
    writeSecrets(new Map(known), { folder: join(work, 'secrets'), group: null });
    const ended = [
      await node.command('bash', [join(MANIFESTS, 'secrets.sh'), NAMESPACE, join(work, 'secrets')]),
      await node.command('env', ['ROLLOUT_WAIT=6m', 'bash', join(MANIFESTS, 'apply.sh'), OVERLAY]),
    ];
    for (const place of [PROXY, STRANGER]) {
      await apply(idlePod(place));
      await node.kubectl('wait', '--namespace', place.namespace, `pod/${place.pod}`, '--for', 'condition=Ready', '--timeout', '120s');
    }
    return ended;
  };

  /** Its people begin when they are asked to. */
  const loadOf = async () => {
    const addressOf = async (name: string, port: number) => {
      const host = await kubectl('get', 'service', name, '--output', 'jsonpath={.spec.clusterIP}');
      return `${host}:${port}`;
    };
    const broker = await addressOf('rabbitmq', 5672);
    const secretOf = (path: string) => readFileSync(join(work, 'secrets', path), 'utf8').replace('rabbitmq:5672', broker);
    return openLoad(node.inside, {
      amqpUrl: secretOf('recording-pipeline/AMQP_URL'),
      deadLettersUrl: secretOf('admin/AMQP_URL'),
      operatorKeyFile: join(work, 'secrets/admin/OPERATOR_KEY'),
      mongoUrl: `mongodb://${await addressOf('store', 27_017)}/?directConnection=true`,
      gatewayUrl: `http://${await addressOf('gateway', 8080)}`,
      identityUrls: [`http://${await addressOf('identity-and-oauth', 8080)}`],
      meetingsUrls: [`http://${await addressOf('meetings-bot-gateway', 8080)}`],
      mailsUrl: `http://${await addressOf('mailpit', 8025)}`,
      receiverHost: NODE_ADDRESS,
    });
  };

  return {
    node,
    kubectl,
    apply,
    run,
    podsOf,
    deploy,
    loadOf,
    readyPodsOf: async (name: string): Promise<readonly Manifest[]> =>
      (await podsOf(name)).filter((pod) => isReady(pod) && at(pod, 'metadata.deletionTimestamp') === undefined),
    placeOf: (pod: Manifest): Place => ({ namespace: NAMESPACE, pod: pod.metadata.name }),
    /** Which of the addresses can be reached from there. */
    reached: async (place: Place, addresses: readonly string[]): Promise<readonly string[]> =>
      JSON.parse(await run(place, 'reach.mjs', ...addresses)),
    addressOf: (pod: Manifest) => textAt(pod, 'status.podIP'),
    async stop() {
      await node.stop();
      rmSync(work, { recursive: true, force: true });
    },
  };
};
