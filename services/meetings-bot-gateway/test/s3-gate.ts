import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface FakeS3 {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}
// It has no types.
const require = createRequire(import.meta.url);
const S3rver: new (options: object) => FakeS3 = require('s3rver');

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface SignedRequest {
  readonly method: string;
  /** Path and query as they are sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signedHeaders: readonly string[];
  readonly region: string;
}

/** Signature version 4, computed from AWS's description of it. */
export const signatureOf = (sent: SignedRequest, secret: string): string => {
  const { method, target, headers, signedHeaders, region } = sent;
  const [path = '', query = ''] = target.split('?');
  const parameters = query === '' ? [] : query.split('&').map((one) => (one.includes('=') ? one : `${one}=`));
  const lines = signedHeaders.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, ' ')}\n`).join('');
  const canonical = [method, path, parameters.toSorted().join('&'), lines, signedHeaders.join(';'), headers['x-amz-content-sha256']].join(
    '\n',
  );
  const time = headers['x-amz-date'] ?? '';
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const signed = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`);
  return hmac(key, signed).toString('hex');
};

export const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', region: 'eu-central-1', bucket: 'recordings' } as const;

const isSigned = ({ method = '', url: target = '', headers: sent }: IncomingMessage): boolean => {
  const headers = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, String(value)]));
  const [, id, region = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      sent.authorization ?? '',
    ) ?? [];
  const signedHeaders = names.split(';');
  const isWhole = ['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signedHeaders.includes(name));
  return (
    isWhole &&
    id === CREDENTIALS.accessKeyId &&
    region === CREDENTIALS.region &&
    signature === signatureOf({ method, target, headers, signedHeaders, region }, CREDENTIALS.secretAccessKey)
  );
};

interface S3Gate {
  readonly endpoint: string;
  /** Uploads in parts that were neither completed nor aborted. */
  readonly uploads: Map<string, string>;
  readonly requests: string[];
  /** Answers in place of the store; false lets it answer. */
  refuse: (request: IncomingMessage, response: ServerResponse) => boolean;
  read(key: string): Promise<{ readonly contentType: string; readonly text: string } | null>;
  stop(): Promise<void>;
}

/** An S3 in this process, behind a gate that checks signatures, and knows the calls on uploads that `s3rver` does not. */
export const startS3 = async (): Promise<S3Gate> => {
  const directory = await mkdtemp(join(tmpdir(), 's3-'));
  const s3 = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: CREDENTIALS.bucket, configs: [] }],
  });
  const { port } = await s3.run();
  const uploads = new Map<string, string>();
  const requests: string[] = [];

  /** What came whole: a half body changes nothing, as in S3. */
  const pass = (from: IncomingMessage, to: ServerResponse, seen: (text: string) => void) => {
    const { method = '', url: path = '' } = from;
    // What is checked here already is not signed again for the address behind.
    const { authorization: _a, 'x-amz-date': _d, ...headers } = from.headers;
    const send = async (body: Buffer) => {
      const onward = request({ port, host: '127.0.0.1', method, path, headers });
      onward.on('error', () => to.destroy()).end(body);
      const [answer]: IncomingMessage[] = await once(onward, 'response');
      const chunks = answer === undefined ? [] : await Array.fromAsync<Buffer>(answer);
      seen(Buffer.concat(chunks).toString());
      to.writeHead(answer?.statusCode ?? 500, answer?.headers).end(Buffer.concat(chunks));
    };
    Array.fromAsync<Buffer>(from).then(
      (chunks) => send(Buffer.concat(chunks)),
      () => to.destroy(),
    );
  };
  const answerUploads = (from: IncomingMessage, to: ServerResponse): boolean => {
    const url = new URL(from.url ?? '', 'http://s3');
    const uploadId = url.searchParams.get('uploadId');
    const key = url.pathname.slice(`/${CREDENTIALS.bucket}/`.length);
    if (from.method === 'DELETE' && uploadId !== null) {
      to.writeHead(uploads.delete(uploadId) ? 204 : 404).end();
      return true;
    }
    if (from.method === 'GET' && url.searchParams.has('uploads')) {
      const listed = [...uploads].map(([id, of]) => `<Upload><Key>${of}</Key><UploadId>${id}</UploadId></Upload>`);
      to.writeHead(200, { 'content-type': 'application/xml' }).end(
        `<ListMultipartUploadsResult>${listed.join('')}</ListMultipartUploadsResult>`,
      );
      return true;
    }
    if (uploadId !== null && !uploads.has(uploadId)) {
      to.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
      return true;
    }
    pass(from, to, (text) => {
      const [, begun] = /<UploadId>(\w+)<\/UploadId>/.exec(text) ?? [];
      if (begun !== undefined) uploads.set(begun, key);
      if (from.method === 'POST' && uploadId !== null && !text.includes('<Error>')) uploads.delete(uploadId);
    });
    return true;
  };

  const gate = createServer((from, to) => {
    requests.push(`${from.method} ${from.url?.replace(/[0-9a-f]{64}/, 'KEY').replace(/uploadId=\w+/, 'uploadId=ID')}`);
    if (!isSigned(from))
      to.writeHead(403).end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${CREDENTIALS.secretAccessKey}</Message></Error>`);
    else if (!made.refuse(from, to)) answerUploads(from, to);
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const made: S3Gate = {
    // A listening TCP server has an address of this form.
    endpoint: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`,
    uploads,
    requests,
    refuse: () => false,
    async read(key) {
      const answer = await fetch(`http://127.0.0.1:${port}/${CREDENTIALS.bucket}/${key}`);
      return answer.ok ? { contentType: answer.headers.get('content-type') ?? '', text: await answer.text() } : null;
    },
    async stop() {
      gate.closeAllConnections();
      gate.close();
      await s3.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return made;
};
