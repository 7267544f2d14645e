import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { SEAL_KEY_BYTES, type SealKey } from './seal.ts';

/** What a machine that runs services of its own (sandbox, stack, test) gives them; a deployment has to tell it. */
export type LocalValue =
  | { readonly kind: 'text'; readonly text: string }
  /** Where files are written, beside the others of that machine. */
  | { readonly kind: 'folder'; readonly name: string }
  /** A secret; `master` ones are a list of named ones. */
  | { readonly kind: 'key' | 'master key'; readonly bytes: number };
/** By the schema of the variable. */
export const localValues = z.registry<LocalValue>();

const secretValues = z.registry<{ readonly isSecret: true }>();

/** Marks a value that a deployment keeps as a secret. */
export const secret = <S extends z.ZodType>(schema: S): S => {
  secretValues.add(schema, { isSecret: true });
  return schema;
};

export const isSecret = (schema: z.core.$ZodType): boolean => {
  if (secretValues.get(schema)?.isSecret || localValues.get(schema)?.kind.endsWith('key')) return true;
  return (
    (schema instanceof z.ZodNullable || schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) && isSecret(schema.unwrap())
  );
};

/** Parses a variable's text; `parse` gives null for a wrong one. */
export const parsedText = <T>(rule: string, parse: (text: string) => T | null) =>
  z.string().transform((text, context): T => {
    const value = parse(text);
    if (value !== null) return value;
    // The input is left out: it may be a secret.
    context.issues.push({ code: 'custom', message: rule, input: undefined });
    return z.NEVER;
  });

export const wholeNumber = (min: number, max: number) =>
  parsedText(`must be a whole number from ${min} to ${max}`, (text) => {
    const value = Number(text);
    return /^(?:0|[1-9]\d*)$/.test(text) && value >= min && value <= max ? value : null;
  });

export const port = () => wholeNumber(0, 65_535);

const SWITCH: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);
export const flag = () => parsedText('must be 1, true, 0 or false', (text) => SWITCH.get(text) ?? null);

export const commaList = () =>
  parsedText('must be a comma-separated list', (text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `30s`, `5m`, `1h`, `14d`; milliseconds. */
export const duration = () =>
  parsedText('must be a duration such as 500ms, 30s, 5m, 1h or 14d', (text) => {
    const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
    return amount === undefined || unit === undefined ? null : Number(amount) * (UNITS_MS[unit] ?? 0);
  });

/** An origin or base URL of ours, without a trailing slash. */
export const baseUrl = () =>
  parsedText('must be an http or https URL without user, query or fragment', (text) => {
    const url = URL.parse(text);
    const plain =
      url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
    return plain ? url.href.replace(/\/+$/, '') : null;
  });

export const baseUrls = () => commaList().pipe(z.array(baseUrl()).min(1, 'must name at least one URL'));

/** The URL of a store or broker, kept as it is, with its password; its scheme is one of `schemes`. */
export const connectionUrl = (...schemes: readonly string[]) =>
  secret(
    parsedText(`must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`, (text) =>
      schemes.some((scheme) => text.startsWith(`${scheme}://`) && text.length > scheme.length + 3) ? text : null,
    ),
  );

/** Exactly this number of bytes, in base64 or base64url. */
export const base64Key = (bytes: number) =>
  parsedText(`must be ${bytes} bytes in base64`, (text) => {
    const key = Buffer.from(text, 'base64');
    return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && key.length === bytes ? key : null;
  }).register(localValues, { kind: 'key', bytes });

/** `k2=<key>,k1=<key>`: master keys of 32 bytes in base64, by the name that sealed values carry. The first one seals. */
export const sealKeys = () =>
  parsedText(`must be a list of <name>=<${SEAL_KEY_BYTES} bytes in base64>`, (text) => {
    const keys: SealKey[] = [];
    for (const entry of text.split(',')) {
      const [, id, encoded = ''] = /^\s*([A-Za-z0-9_-]+)=([A-Za-z0-9+/_-]+={0,2})\s*$/.exec(entry) ?? [];
      const key = Buffer.from(encoded, 'base64');
      if (id === undefined || key.length !== SEAL_KEY_BYTES || keys.some((known) => known.id === id)) return null;
      keys.push({ id, key });
    }
    return keys;
  })
    .register(localValues, { kind: 'master key', bytes: SEAL_KEY_BYTES })
    .describe('Seal what is kept secret in the database: `k2=<32 bytes in base64>,k1=<…>`. The first one seals, all open');

const keyFrom = (read: () => KeyObject): KeyObject | null => {
  try {
    const key = read();
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
};

const isPem = (text: string): boolean => text.startsWith('-----BEGIN');

const privateKeyFrom = (text: string): KeyObject | null =>
  keyFrom(() => createPrivateKey(isPem(text) ? text : { key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' }));
const publicKeyFrom = (text: string): KeyObject | null =>
  keyFrom(() => createPublicKey(isPem(text) ? text : { key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }));

const isCertificate = (text: string): boolean => {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
};

/** PEM certificates of authorities that are trusted besides the built-in ones. */
export const certificates = () => z.string().refine(isCertificate, 'must be certificates in PEM');

/** An Ed25519 private key: PEM, or PKCS#8 DER in base64. */
export const signingKey = () => secret(parsedText('must be an Ed25519 private key, PEM or base64 of PKCS#8', privateKeyFrom));

/** The key that signs the service tokens of a caller. */
export const serviceKey = () =>
  signingKey().describe(
    'Proves to other services who calls: an Ed25519 private key, PEM or PKCS#8 in base64. Its public half is in their `CALLER_KEYS`',
  );

/** `gateway=<key>,…`: Ed25519 public keys (SPKI DER in base64) by service. A service appears twice while it changes its key. */
export const callerKeys = () =>
  parsedText('must be a list of <service>=<Ed25519 public key, base64 of SPKI>', (text) => {
    const entries = text.split(',').map((entry) => /^\s*([a-z][a-z-]*)=(\S+)\s*$/.exec(entry));
    const keys = new Map<string, KeyObject[]>();
    for (const entry of entries) {
      const [, service, encoded] = entry ?? [];
      const key = encoded === undefined ? null : publicKeyFrom(encoded);
      if (service === undefined || key === null) return null;
      keys.set(service, [...(keys.get(service) ?? []), key]);
    }
    return keys;
  });

/** Addresses of peers, IPv4-mapped ones too. */
export interface PeerList {
  has(address: string): boolean;
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** `10.0.0.0/8, ::1`: networks or single addresses. */
export const peerList = () =>
  parsedText('must be a comma-separated list of addresses or networks such as 10.0.0.0/8', (text): PeerList | null => {
    const networks = new BlockList();
    for (const item of text.split(',').map((part) => part.trim())) if (item !== '' && !addNetwork(networks, item)) return null;
    return { has: (address) => isIP(address) !== 0 && networks.check(address, familyOf(address)) };
  });

/** `10.0.0.0/8, fd00::/8`, as they were written. */
export const networkList = () =>
  commaList().refine(
    (networks) => networks.every((network) => network.includes('/') && addNetwork(new BlockList(), network)),
    'must be a comma-separated list of networks such as 10.0.0.0/8',
  );

const addNetwork = (networks: BlockList, item: string): boolean => {
  const [, address, bits] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(item) ?? [];
  if (address === undefined || isIP(address) === 0) return false;
  const most = isIP(address) === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (prefix > most) return false;
  networks.addSubnet(address, prefix, familyOf(address));
  return true;
};
