import { createS3Store } from '../src/adapters/media/s3-store.ts';

const [endpoint = '', mib = '0', length = 'unknown'] = process.argv.slice(2);
const MIB = 1024 * 1024;
const size = Number(mib) * MIB;
const keys = { region: 'eu-central-1', bucket: 'recordings', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const store = createS3Store({ ...keys, endpoint, pathStyle: true, maxBytes: size, ...(length === 'whole' && { singleBytes: size }) });

let most = 0;
const transfer = async function* (bytes: number) {
  for (let sent = 0; sent < bytes; sent += 64 * 1024) {
    if (sent % (8 * MIB) === 0) most = Math.max(most, process.memoryUsage.rss());
    // As bytes come from a socket: each chunk is new.
    yield await Promise.resolve(Buffer.alloc(64 * 1024, 7));
  }
};
const put = (bytes: number) => {
  const file = { contentType: 'video/mp4', length: length === 'unknown' ? null : bytes, bytes: transfer(bytes) };
  return store.put('c3'.repeat(32), file, new AbortController().signal);
};

// V8 collects what lies outside of its heap in steps of 64 MiB: whatever it sends, a process comes to have as much garbage.
await put(128 * MIB);
const before = process.memoryUsage.rss();
await put(size);
await store.close();
process.stdout.write(String(Math.round((most - before) / MIB)));
