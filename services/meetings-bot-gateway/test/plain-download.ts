import { type Download, NotetakerError } from '../src/ports.ts';

/** Without the address guard, which would let nothing on loopback through. */
export const plainDownload: Download = async (url, headers = {}) => {
  const { ok, body, headers: answered } = await fetch(url, { headers });
  if (!ok || body === null) throw new NotetakerError('transient', 'notetaker_unavailable');
  return { contentType: answered.get('content-type') ?? '', length: Number(answered.get('content-length')), bytes: body };
};
