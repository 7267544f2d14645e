import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isServer, usesStore } from '../../deploy/kubernetes/src/settings.ts';
import { at, listAt, MANIFESTS, type Manifest, numberAt, textAt } from '../kubernetes/cluster-objects.ts';
import { PARTS } from '../kubernetes/rules.ts';
import { eventually, PROXY, productOnNode, STRANGER } from './real-node.ts';

const SERVERS = PARTS.filter(isServer);
const ENGINES = { rabbitmq: 5672, mongodb: 27_017, mailpit: 1025 };
const USER = 10_001;
const OUT_OF_MEMORY = 137;
/** Images are made before it, the first time from nothing. */
const START_LIMIT_MS = 30 * 60_000;
const GATEWAY_URL = 'http://gateway.bubbles.svc.cluster.local:8080';

let product: Awaited<ReturnType<typeof productOnNode>>;
let deployed: readonly { readonly code: number; readonly stderr: string }[];
let token: string;

beforeAll(async () => {
  product = await productOnNode();
  deployed = await product.deploy();
}, START_LIMIT_MS);
afterAll(() => product?.stop());

const only = (pods: readonly Manifest[]): Manifest => {
  const [pod] = pods;
  if (pod === undefined) throw new Error('there is no such pod');
  return pod;
};
const anyOf = async (name: string) => only(await product.readyPodsOf(name));
const namesOf = (pods: readonly Manifest[]) => pods.map(({ metadata }) => metadata.name).toSorted();
const ask = async (path: string, token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const program = `const answer = await fetch(${JSON.stringify(GATEWAY_URL + path)}, { headers: ${JSON.stringify(headers)} });
    process.stdout.write(JSON.stringify({ status: answer.status, json: await answer.json() }));`;
  return JSON.parse(await product.run(PROXY, program));
};

describe('the product on a real node', () => {
  it('is rolled out by the script that a platform uses: jobs, then servers, each ready by the probes of the kubelet', async () => {
    expect(deployed).toEqual(deployed.map(() => expect.objectContaining({ code: 0 })));
    for (const { name } of SERVERS) {
      const pods = await product.podsOf(name);
      expect(namesOf(await product.readyPodsOf(name))).toEqual(namesOf(pods));
      for (const pod of pods) {
        expect(at(pod, 'status.containerStatuses.0')).toMatchObject({ ready: true, started: true });
        expect(textAt(pod, 'spec.nodeName')).toBe('node');
      }
    }
  });

  it('answers through the Service of its gateway, with services that it finds by headless names', async () => {
    expect(await ask('/v1/me')).toMatchObject({ status: 401, json: { error: { type: 'unauthorized' } } });
    const { status, json } = await ask('/v1/openapi.json');
    expect(status).toBe(200);
    expect(Object.keys(json.paths)).toEqual(expect.arrayContaining(['/v1/me', '/v1/bubbles', '/v1/webhooks', '/v1/signup/start']));
  });

  it('takes the commands of operators', async () => {
    const words = ['accounts', 'create', '--name', 'Client 1', '--key-name', 'first'];
    const { code, stdout } = await product.node.command('bash', [join(MANIFESTS, 'command.sh'), 'bubbles', ...words]);
    expect(code).toBe(0);
    token = /svc_pat_[A-Za-z0-9_-]{43,}/.exec(stdout)?.[0] ?? '';
    expect(await ask('/v1/me', token)).toMatchObject({ status: 200, json: { name: 'Client 1' } });
  });
});

describe('a pod', () => {
  it.each(SERVERS)('of $name has no rights, no place to write, and the memory of its manifest', async ({ name }) => {
    const pod = await anyOf(name);
    const program = `
      import { existsSync, readFileSync, writeFileSync } from 'node:fs';
      const codeOf = (path) => { try { writeFileSync(path, ''); return null; } catch ({ code }) { return code; } };
      const status = (name) => new RegExp('^' + name + ':\\\\s+(\\\\S+)', 'm').exec(readFileSync('/proc/1/status', 'utf8'))[1];
      const memory = ['/sys/fs/cgroup/memory/memory.limit_in_bytes', '/sys/fs/cgroup/memory.max'].find(existsSync);
      process.stdout.write(JSON.stringify({ capabilities: status('CapEff'), newPrivileges: status('NoNewPrivs'), seccomp: status('Seccomp'), user: status('Uid'),
        root: codeOf('/app/written'), tmp: codeOf('/tmp/written'), memory: Number(readFileSync(memory, 'utf8')) }));`;
    const limit = Number.parseInt(textAt(pod, 'spec.containers.0.resources.limits.memory'), 10) * 1024 ** 2;
    expect(JSON.parse(await product.run(product.placeOf(pod), program))).toEqual({
      capabilities: '0000000000000000',
      newPrivileges: '1',
      seccomp: '2',
      user: String(USER),
      root: 'EROFS',
      tmp: null,
      memory: limit,
    });
  });

  it('that takes more memory than its limit is stopped, and no other is', async () => {
    const pod = await anyOf('signup');
    const hog = 'const kept = []; for (;;) kept.push(Buffer.alloc(16 << 20, 1));';
    const { code } = await product.node.command('kubectl', [
      ...['exec', '--namespace', 'bubbles', pod.metadata.name, '--', 'node', '-e', hog],
    ]);
    expect(code).toBe(OUT_OF_MEMORY);
    expect((await ask('/v1/me', token)).status).toBe(200);
  });

  it('that is not restricted is refused', async () => {
    const { code, stderr } = await product.node.command('kubectl', [
      ...['run', 'free', '--namespace', 'bubbles', '--image', 'localhost/bubbles/gateway:local'],
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('violates PodSecurity "restricted:latest"');
  });
});

describe('NetworkPolicies', () => {
  /** One pod of each server and engine, by its addresses. */
  const targets = async () => {
    const found = new Map<string, string>();
    for (const { name } of SERVERS) {
      const host = product.addressOf(await anyOf(name));
      found.set(`${host}:8080`, `${name}:8080`).set(`${host}:9090`, `${name}:9090`);
    }
    for (const [name, port] of Object.entries(ENGINES)) found.set(`${product.addressOf(await anyOf(name))}:${port}`, `${name}:${port}`);
    return found;
  };
  const reachedFrom = async (place: Parameters<typeof product.reached>[0], but = '') => {
    const named = await targets();
    const addresses = [...named].filter(([, name]) => !name.startsWith(`${but}:`)).map(([address]) => address);
    return (await product.reached(place, addresses)).map((address) => named.get(address)).toSorted();
  };

  it.each(SERVERS)('let $name reach what its code calls, and nothing else', async (part) => {
    const engines = [
      ...(part.usesBroker ? ['rabbitmq:5672'] : []),
      ...(usesStore(part) ? ['mongodb:27017'] : []),
      ...(part.reaches.includes('mail server') ? ['mailpit:1025'] : []),
    ];
    const expected = [...part.calls.map((name) => `${name}:8080`), ...engines].toSorted();
    expect(await reachedFrom(product.placeOf(await anyOf(part.name)), part.name)).toEqual(expected);
  });

  it('let the proxies reach the gateway alone, and a stranger nothing', async () => {
    expect(await reachedFrom(PROXY)).toEqual(['gateway:8080']);
    expect(await reachedFrom(STRANGER)).toEqual([]);
  });

  it('are what keeps a stranger out', async () => {
    const door = JSON.stringify({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'door', namespace: 'bubbles' },
      spec: {
        podSelector: { matchLabels: { 'app.kubernetes.io/name': 'bubbles-query' } },
        ingress: [{ from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': STRANGER.namespace } } }] }],
      },
    });
    const noticed = (change: string, isAsExpected: (reached: readonly unknown[]) => boolean) =>
      eventually(`${change}, and a stranger notices`, async () => {
        const reached = await reachedFrom(STRANGER);
        return isAsExpected(reached) ? reached : null;
      });
    await product.apply(door);
    expect(await noticed('a door', (reached) => reached.length > 0)).toEqual(['bubbles-query:8080', 'bubbles-query:9090']);
    await product.kubectl('delete', 'networkpolicy', 'door');
    expect(await noticed('no door', (reached) => reached.length === 0)).toEqual([]);
  });
});

describe('a process that stands still', () => {
  it('gets no requests any more, and is started again by its kubelet', async () => {
    const pod = await anyOf('webhooks-dispatcher');
    const id = textAt(pod, 'status.containerStatuses.0.containerID').replace('containerd://', '');
    const { stdout } = await product.node.command('sh', ['-c', `grep --files-with-matches ${id} /proc/[0-9]*/cgroup`]);
    const pids = [...stdout.matchAll(/\d+/g)].map(([pid]) => pid);
    expect(pids).not.toEqual([]);
    await product.node.command('kill', ['-STOP', ...pids]);
    await eventually('it is taken out of its Services', async () =>
      (await product.readyPodsOf('webhooks-dispatcher')).length === 0 ? true : null,
    );
    const restarted = await eventually('it is started again', async () => {
      const [found] = await product.readyPodsOf('webhooks-dispatcher');
      return found !== undefined && numberAt(found, 'status.containerStatuses.0.restartCount') > 0 ? found : null;
    });
    expect(restarted.metadata.name).toBe(pod.metadata.name);
    expect(listAt(restarted, 'status.containerStatuses')).toHaveLength(1);
  });
});
