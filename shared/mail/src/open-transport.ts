import { rootCertificates } from 'node:tls';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { ConfigError } from '@bubbles/kernel/config.ts';
import { certificates, localValues, parsedText, secret } from '@bubbles/kernel/config-values.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { z } from 'zod';
import { createMailFiles } from './mail-files.ts';
import { createSmtpTransport, type Sender, type SmtpServer } from './smtp.ts';
import { asciiAddress, isPlainAddress, type MailTransport } from './transport.ts';

const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};

const smtpUrl = () =>
  parsedText('must be smtp://[user:password@]host[:port] or smtps://…', (text): SmtpServer | null => {
    const url = URL.parse(text);
    if (url === null || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')) return null;
    const [user, password] = [decoded(url.username), decoded(url.password)];
    const isWhole = url.hostname !== '' && /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '';
    if (!isWhole || user === null || password === null || (user === '') !== (password === '')) return null;
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? PORTS[url.protocol] : Number(url.port),
      secure: url.protocol === 'smtps:',
      login: user === '' ? null : { user, password },
    };
  });

const sender = () =>
  parsedText('must be an address such as no-reply@example.com or Name <no-reply@example.com>', (text): Sender | null => {
    const [, name = '', bracketed, plain] = /^(?:([^<>"\p{C}]*)<([^<>]+)>|([^<>]+))$/u.exec(text.trim()) ?? [];
    const written = bracketed ?? plain ?? '';
    const address = isPlainAddress(written) ? asciiAddress(written) : null;
    return address === null ? null : { name: name.trim(), address };
  });

/** Variables of a service that sends mail; see docs/configuration.md. */
export const MAIL_VARIABLES = {
  SMTP_URL: secret(smtpUrl())
    .nullable()
    .default(null)
    .describe('The mail server: `smtp://user:password@host:587` (STARTTLS) or `smtps://…:465`. Required, unless `MAIL_FILES` is set'),
  SMTP_TLS: z
    .enum(['required', 'optional'])
    .default('required')
    .describe('`optional`: mails go in plain text to a server that offers no STARTTLS'),
  SMTP_EXTRA_CA: certificates()
    .nullable()
    .default(null)
    .describe('Certificate authorities in PEM that are believed beside the built-in ones when mails are sent'),
  MAIL_FROM: sender()
    .nullable()
    .default(null)
    .describe('The sender of mails: `no-reply@example.com` or `Name <no-reply@example.com>`. Required with `SMTP_URL`'),
  MAIL_FILES: z
    .string()
    .nullable()
    .default(null)
    .register(localValues, { kind: 'folder', name: 'mail' })
    .describe(
      'In place of `SMTP_URL`, on a machine without a mail server: a folder where each mail becomes a JSON file `{to, subject, text, html, sent_at}`',
    ),
};

type MailConfig = { readonly [N in keyof typeof MAIL_VARIABLES]: z.output<(typeof MAIL_VARIABLES)[N]> };

/** SMTP where there is a mail server, files on a machine that has none. Throws `ConfigError` when neither is named. */
export const openMailTransport = (config: MailConfig, files: { readonly clock: Clock; readonly ids: Ids }): MailTransport => {
  const { SMTP_URL: server, MAIL_FROM: from, MAIL_FILES: folder, SMTP_EXTRA_CA: extraCa } = config;
  if (server !== null && from === null) throw new ConfigError(['MAIL_FROM: is required with SMTP_URL']);
  if (server !== null && from !== null) {
    const ca = extraCa === null ? null : [...rootCertificates, extraCa];
    return createSmtpTransport({ server, from, requireTls: config.SMTP_TLS === 'required', ca });
  }
  if (folder === null) throw new ConfigError(['SMTP_URL: is required, or MAIL_FILES on a machine without a mail server']);
  return createMailFiles({ ...files, folder });
};
