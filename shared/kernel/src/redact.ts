const HIDDEN = '[redacted]';

/** User and password of a URL, and tokens by their prefix or scheme. Each begins where nothing before it can belong to it, so that no text is read twice. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/:\/\/[^\s/?#"'<>]*@/g, `://${HIDDEN}@`],
  [/\b(svc_pat_|svc_session_|whsec_)[A-Za-z0-9_-]+/g, `$1${HIDDEN}`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, `$1 ${HIDDEN}`],
  [
    /\b(code|token|access_token|refresh_token|client_secret|signup_session|code_verifier|password|passcode|pwd)=[^\s&"'#]+/gi,
    `$1=${HIDDEN}`,
  ],
];

/** Three parts or more between dots, wherever a JWT begins in them. */
const DOTTED = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]*/g;
const JWT = /\beyJ.*/;

/** The last line of defence: what must never be in a log line is not there even when a driver put it into its message. */
export const redacted = (text: string): string =>
  SECRETS.reduce((safe, [pattern, replacement]) => safe.replace(pattern, replacement), text).replace(DOTTED, (parts) =>
    parts.replace(JWT, HIDDEN),
  );
