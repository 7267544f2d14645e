const HIDDEN = '[redacted]';

/** User and password of a URL, and tokens by their prefix or scheme. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi, `$1${HIDDEN}@`],
  [/\b(svc_pat_|svc_session_|whsec_)[A-Za-z0-9_-]+/g, `$1${HIDDEN}`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, HIDDEN],
  [
    /\b(code|token|access_token|refresh_token|client_secret|signup_session|code_verifier|password|passcode|pwd)=[^\s&"'#]+/gi,
    `$1=${HIDDEN}`,
  ],
];

/** The last line of defence: what must never be in a log line is not there even when a driver put it into its message. */
export const redacted = (text: string): string =>
  SECRETS.reduce((safe, [pattern, replacement]) => safe.replace(pattern, replacement), text);
