import { createS3Store } from '../src/adapters/media/s3-store.ts';

const [endpoint = '', mib = '0', length = 'unknown'] = process.argv.slice(2);
const MIB = 1024 * 1024;
const size = Number(mib) * MIB;
const keys = { region: 'eu-central-1', bucket: 'recordings', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const store = createS3Store({ ...keys, endpoint, pathStyle: true, maxBytes: size, ...(length === 'whole' && { singleBytes: size }) });

/** What is still needed: garbage counts for nothing, whenever V8 would have collected it. */
const held = (): number => {
  gc?.();
  return process.memoryUsage.rss();
};

let most = 0;
const transfer = async function* (bytes: number) {
  for (let sent = 0; sent < bytes; sent += 64 * 1024) {
    if (sent % (8 * MIB) === 0) most = Math.max(most, held());
    // As bytes come from a socket: each chunk is new.
    yield await Promise.resolve(Buffer.alloc(64 * 1024, 7));
  }
};
const put = (bytes: number) => {
  const file = { contentType: 'video/mp4', length: length === 'unknown' ? null : bytes, bytes: transfer(bytes) };
  return store.put('c3'.repeat(32), file, new AbortController().signal);
};

await put(16 * MIB);
const before = held();
await put(size);
await store.close();
process.stdout.write(String(Math.round((most - before) / MIB)));
