import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Part, partsOf } from '../../deploy/services/src/deployment.ts';
import { brokerDefinitions } from '../../deploy/services/src/engine-users.ts';

const Condition = z.object({ condition: z.string() });
const Service = z.object({
  image: z.string(),
  build: z
    .object({ context: z.literal('.'), dockerfile: z.literal('deploy/docker/Dockerfile'), args: z.object({ SERVICE: z.string() }) })
    .optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  networks: z.array(z.string()).default([]),
  network_mode: z.string().optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), Condition).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  profiles: z.array(z.string()).default([]),
  user: z.string().optional(),
  read_only: z.boolean().default(false),
  tmpfs: z.array(z.string()).default([]),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  mem_limit: z.string(),
  privileged: z.never().optional(),
});
const text = readFileSync(new URL('../../compose.yaml', import.meta.url), 'utf8');
const { services, volumes } = z
  .object({ services: z.record(z.string(), Service), volumes: z.record(z.string(), z.null()) })
  .parse(parse(text, { merge: true }));

const PARTS = partsOf();
const processes = PARTS.filter(({ kind }) => kind !== 'job');
const jobs = PARTS.filter(({ kind }) => kind === 'job');
const engines = Object.entries(services).filter(([, { build }]) => build === undefined);
const serviceOf = (name: string) => {
  const found = services[name];
  if (found === undefined) throw new Error(`compose.yaml has no ${name}`);
  return found;
};
/** Of Node, which reads them before the process does. */
const OF_NODE = ['NODE_OPTIONS'];
const givenTo = ({ name }: Part) => Object.keys(serviceOf(name).environment).filter((variable) => !OF_NODE.includes(variable));
const plainName = (variable: string) => variable.replace(/_FILE$/, '');
const addressOf = (name: string) => `http://${name}:8080`;

describe('compose.yaml', () => {
  it('has every part of a release, built by the one Dockerfile, and nothing else that is built', () => {
    const built = Object.entries(services).flatMap(([name, { build }]) => (build === undefined ? [] : [[name, build.args.SERVICE]]));
    expect(built.toSorted()).toEqual(PARTS.map(({ name, workspace }) => [name, workspace]).toSorted());
  });

  it.each(PARTS)('tells $name all that it needs, and nothing that it does not know', (part) => {
    const given = givenTo(part).map(plainName);
    const required = part.variables.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    expect(given).toEqual(expect.arrayContaining(required));
    expect(given.filter((name) => !part.variables.some((variable) => variable.name === name))).toEqual([]);
    expect(new Set(given).size).toBe(given.length);
  });

  it.each(PARTS)('gives $name its secrets as files of its own volume', (part) => {
    const secret = part.variables.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    expect(givenTo(part).filter((name) => secret.includes(name))).toEqual([]);
    const { environment, volumes: mounted } = serviceOf(part.name);
    const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'));
    expect(files).toEqual(files.map(([name]) => [name, `/keys/${plainName(name)}`]));
    const keys = mounted.filter((volume) => volume.startsWith('keys-'));
    if (part.name !== 'keys') expect(keys).toEqual(files.length > 0 ? [`keys-${part.name}:/keys:ro`] : []);
  });

  it('has no secret in itself', () => {
    expect(text).not.toMatch(/:[/][/][^/\s]*:[^/\s]*@|BEGIN [A-Z ]*KEY|[A-Za-z0-9+/]{40}/);
    const literal = Object.values(services).flatMap(({ environment }) => Object.keys(environment));
    expect(literal.filter((name) => /PASSWORD|SECRET|KEY/.test(name) && !/^KEYS_|_FILE$/.test(name))).toEqual([]);
  });

  it('lets the job of the keys write to the volumes of all, which nobody else may', () => {
    const readers = [...PARTS.map(({ name }) => name), ...brokerDefinitions().users.map(({ name }) => name), 'rabbitmq', 'mongodb', 'made'];
    const own = [...new Set(readers.filter((name) => name !== 'keys'))].map((name) => `keys-${name}:/keys/${name}`);
    expect(serviceOf('keys').volumes.toSorted()).toEqual(own.toSorted());
    const mounted = Object.entries(services)
      .filter(([name]) => name !== 'keys')
      .flatMap(([, service]) => service.volumes);
    expect(mounted.filter((volume) => volume.startsWith('keys-') && !volume.endsWith(':ro'))).toEqual([]);
    expect(mounted.filter((volume) => volume.startsWith('keys-made'))).toEqual([]);
    const named = Object.values(services).flatMap((service) => service.volumes.map((volume) => volume.split(':')[0] ?? ''));
    expect(Object.keys(volumes).toSorted()).toEqual([...new Set(named.filter((name) => !name.startsWith('.')))].toSorted());
  });

  it.each(PARTS)(
    'names for $name those that it calls where they are, and puts it into a network with them',
    ({ name, calls, kind, usesBroker, variables }) => {
      const { environment, networks } = serviceOf(name);
      const told = Object.values(environment).join(' ');
      const named = processes.map((part) => part.name).filter((other) => told.includes(addressOf(other)));
      expect(named.toSorted()).toEqual(calls.toSorted());
      for (const callee of calls) expect(serviceOf(callee).networks.some((network) => networks.includes(network))).toBe(true);
      const reachesEngines = usesBroker || variables.some((variable) => variable.name === 'MONGODB_URL');
      expect(networks.includes('engines')).toBe(reachesEngines);
      if (kind === 'gateway') expect(named).toHaveLength(processes.length - 1);
    },
  );

  it.each(PARTS)('gives $name no rights that it does not need', ({ name }) => {
    const { read_only, cap_drop, cap_add, security_opt, tmpfs, user, mem_limit } = serviceOf(name);
    expect({ read_only, cap_drop, security_opt, tmpfs }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
    });
    const isKeys = name === 'keys';
    expect({ cap_add, user }).toEqual({ cap_add: isKeys ? ['CHOWN'] : [], user: isKeys ? '0:0' : undefined });
    expect(mem_limit).toMatch(/^\d+m$/);
  });

  it('asks every process at its port for probes whether it is ready', () => {
    const probed = Object.entries(services).filter(([, { healthcheck }]) =>
      healthcheck?.test.some((word) => word.includes(':9090/readyz')),
    );
    expect(probed.map(([name]) => name).toSorted()).toEqual(processes.map(({ name }) => name).toSorted());
  });

  it('starts no process before the jobs are done that it needs', () => {
    for (const { name, kind } of processes.filter((part) => part.kind === 'service')) {
      const conditions = serviceOf(name).depends_on;
      expect({ kind, conditions }).toMatchObject({ conditions: { topology: { condition: 'service_completed_successfully' } } });
      expect(conditions['migration']).toEqual({ condition: 'service_completed_successfully' });
    }
    expect(serviceOf('migration').depends_on).toEqual({ 'mongodb-users': { condition: 'service_completed_successfully' } });
    for (const name of ['rabbitmq', 'mongodb'])
      expect(serviceOf(name).depends_on).toEqual({ keys: { condition: 'service_completed_successfully' } });
    const byHand = jobs.filter(({ name }) => serviceOf(name).profiles.length > 0);
    expect(byHand.map(({ name }) => name)).toEqual(['admin']);
  });

  it('[MESSAGING-05] opens no port of broker, store, probes or metrics beyond this machine', () => {
    const published = Object.values(services).flatMap(({ ports }) => ports);
    expect(published.length).toBeGreaterThan(0);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:') || port.endsWith(':9090') || port.endsWith(':27017'))).toEqual([]);
    const ofProcesses = processes.flatMap(({ name }) => serviceOf(name).ports.map((port) => [name, port]));
    expect(ofProcesses).toEqual([['gateway', '127.0.0.1:$' + '{PORT:-8080}:8080']]);
  });

  it('pins the images of others by an explicit tag', () => {
    expect(engines.map(([name]) => name).toSorted()).toEqual(['mail', 'mongodb', 'mongodb-users', 'rabbitmq']);
    for (const [, { image, security_opt }] of engines) {
      expect(image).toMatch(/^[a-z/]+:v?\d+[.]\d+(-management)?$/);
      expect(security_opt).toEqual(['no-new-privileges:true']);
    }
  });
});
