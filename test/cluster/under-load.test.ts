import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isServer } from '../../deploy/kubernetes/src/settings.ts';
import { NO_FAULTS } from '../chaos/support/crowd.ts';
import { report } from '../chaos/support/scale.ts';
import { type Manifest, numberAt, textAt } from '../kubernetes/cluster-objects.ts';
import { PARTS } from '../kubernetes/rules.ts';
import type { openLoad } from './load.ts';
import { eventually, productOnNode } from './real-node.ts';

const SERVERS = PARTS.filter(isServer).map(({ name }) => name);
/** Images are made before it, the first time from nothing. */
const START_LIMIT_MS = 30 * 60_000;

let product: Awaited<ReturnType<typeof productOnNode>>;
let load: Awaited<ReturnType<typeof openLoad>>;

beforeAll(async () => {
  product = await productOnNode();
  expect(await product.deploy()).toMatchObject([{ code: 0 }, { code: 0 }]);
  load = await product.loadOf();
}, START_LIMIT_MS);
afterAll(async () => {
  load?.close();
  await product?.stop();
});

const namesOf = (pods: readonly Manifest[]) => pods.map(({ metadata }) => metadata.name).toSorted();
const readyPods = async (names: readonly string[]) => (await Promise.all(names.map(product.readyPodsOf))).flat();
const rollout = (...words: readonly string[]) => product.kubectl('rollout', ...words);
const rolledOut = (name: string) => rollout('status', `deployment/${name}`, '--timeout', '280s');
const endsWell = ({ metadata: { name } }: Manifest) =>
  product.kubectl(
    ...['wait', `pod/${name}`, '--timeout', '280s'],
    ...['--for', 'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}=0'],
  );

/** While each of the services is asked for what it is there for. */
const underLoad = async (what: string, change: () => Promise<unknown>, services: readonly string[]) => {
  const began = performance.now();
  const { turns, requests, connections, failures, broken } = await load.during(change, services);
  const seconds = (performance.now() - began) / 1000;
  report(what, { turns, requests, connections, failures: failures.length, broken: broken.length, seconds });
  expect(turns).toBeGreaterThan(5);
  return { failures, broken };
};
/** Nobody notices it: no request fails, and each recording is told of once. */
const unnoticed = async (what: string, change: () => Promise<unknown>, services: readonly string[]) => {
  expect(await underLoad(what, change, services)).toEqual({ failures: [], broken: [] });
  expect(await load.faults()).toEqual({ ...NO_FAULTS, repeated: 0 });
};
/** Each of the pods is replaced, and its process ends by itself. */
const replaces = async (pods: readonly Manifest[], change: () => Promise<unknown>) => {
  const ended = Promise.all(pods.map(endsWell));
  await change();
  await ended;
};

describe('a rolling update', () => {
  it.each(SERVERS)('of %s fails no request and loses no delivery, and old processes end with 0', async (name) => {
    const before = await readyPods([name]);
    await unnoticed(`rolling update of ${name}`, async () => {
      await replaces(before, () => rollout('restart', `deployment/${name}`));
      await rolledOut(name);
    }, [name]);
    expect(namesOf(await readyPods([name])).filter((pod) => namesOf(before).includes(pod))).toEqual([]);
  });
});

describe('a release', () => {
  const waiting = (pod: Manifest) => textAt(pod, 'status.containerStatuses.0.state.waiting.reason');
  const lastCode = (pod: Manifest) => numberAt(pod, 'status.containerStatuses.0.lastState.terminated.exitCode');
  const container = '/spec/template/spec/containers/0';
  it.each([
    [
      'an image that is nowhere',
      'gateway',
      { op: 'replace', path: `${container}/image`, value: 'localhost/bubbles/gateway:absent' },
      async (pod: Manifest) => /^(?:ErrImagePull|ImagePullBackOff)$/.test(waiting(pod)),
    ],
    [
      'a setting that is refused',
      'gateway',
      { op: 'add', path: `${container}/env`, value: [{ name: 'UPSTREAMS', value: 'nowhere' }] },
      async (pod: Manifest) => lastCode(pod) === 2,
    ],
    [
      'a secret that is missing',
      'bubbles-query',
      { op: 'replace', path: '/spec/template/spec/volumes/1/secret/secretName', value: 'absent' },
      async ({ metadata: { name } }: Manifest) =>
        (await product.kubectl('get', 'events', '--field-selector', `involvedObject.name=${name},reason=FailedMount`)).includes(
          '"absent" not found',
        ),
    ],
  ])('with %s leaves the old pods of %s at work', async (what, name, change, isStuck) => {
    const before = namesOf(await readyPods([name]));
    await unnoticed(what, async () => {
      await product.kubectl('patch', 'deployment', name, '--type', 'json', '--patch', JSON.stringify([change]));
      await eventually('the new pod is stuck', async () => {
        const fresh = (await product.podsOf(name)).find((pod) => !before.includes(pod.metadata.name));
        return fresh !== undefined && (await isStuck(fresh)) ? fresh : null;
      });
      expect(namesOf(await readyPods([name]))).toEqual(before);
      await rollout('undo', `deployment/${name}`);
      await rolledOut(name);
    }, [name]);
    expect(namesOf(await readyPods([name]))).toEqual(before);
  });
});
