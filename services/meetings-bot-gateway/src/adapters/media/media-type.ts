const MEDIA = /^(?:video|audio)\/[a-z0-9][a-z0-9.+-]{0,62}$/;
/** Object stores give these where nobody said what a file is. */
const GENERIC: ReadonlySet<string> = new Set(['application/octet-stream', 'binary/octet-stream', 'application/mp4', 'application/ogg', '']);

/** First bytes of files in hexadecimal; a dot is any digit. */
const SIGNATURES: readonly (readonly [signature: RegExp, type: string])[] = [
  [/^.{8}66747970/, 'video/mp4'],
  [/^1a45dfa3/, 'video/webm'],
  [/^4f676753/, 'audio/ogg'],
  [/^52494646.{8}57415645/, 'audio/wav'],
  [/^(?:494433|fff[23ab])/, 'audio/mpeg'],
  [/^664c6143/, 'audio/flac'],
];
const SIGNATURE_BYTES = 12;
/** How pages and documents begin, whatever they are called. */
const TEXT = /^(?:efbbbf)?(?:0[9ad]|20)*(?:3c|7b|5b)/;

/** What a file of this `Content-Type` is served as, by its first bytes where that says nothing; null when it is neither video nor audio. */
export const mediaTypeOf = (header: string, first: Uint8Array): string | null => {
  const [type = ''] = header.toLowerCase().split(';');
  const declared = type.trim();
  const start = Buffer.from(first.subarray(0, SIGNATURE_BYTES)).toString('hex');
  if (TEXT.test(start)) return null;
  if (MEDIA.test(declared)) return declared;
  return GENERIC.has(declared) ? (SIGNATURES.find(([signature]) => signature.test(start))?.[1] ?? null) : null;
};
