const OUTSIDE_VISIBLE_ASCII = /[^\x21-\x7e]/;
const MALFORMED_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const REFUSED_OCTET = /%00|%5c/i;
const SEGMENT_BORDER = /\/|%2f/i;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** The path of a request target, without its query; the bytes as sent. */
export const pathOf = (target: string): string => {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
};

/** Why a request target is refused, or null. Nothing is decoded or normalised: what passes goes on byte for byte. */
export const targetFault = (target: string): string | null => {
  if (!target.startsWith('/')) return 'The request target must be a path.';
  if (OUTSIDE_VISIBLE_ASCII.test(target)) return 'The request target holds characters that must be percent-encoded.';
  const path = pathOf(target);
  if (path.includes('//')) return 'The path holds an empty segment.';
  if (path.includes('\\') || path.includes('#')) return 'The path holds a character that must be percent-encoded.';
  if (path.includes('%')) return escapeFault(path) ?? dotSegmentFault(path);
  return path.includes('/.') ? dotSegmentFault(path) : null;
};

const escapeFault = (path: string): string | null => {
  if (MALFORMED_PERCENT.test(path)) return 'The path holds a malformed percent-encoding.';
  return REFUSED_OCTET.test(path) ? 'The path holds an encoded character that is not allowed.' : null;
};

const dotSegmentFault = (path: string): string | null =>
  path.split(SEGMENT_BORDER).some((segment) => DOT_SEGMENT.test(segment)) ? 'The path holds a dot segment.' : null;
