import { SCOPES, SECURITY_SCHEMES } from '@bubbles/contracts/access.ts';
import type { DocumentHead } from '../documents/merge.ts';

const BEARER = { type: 'http', scheme: 'bearer' } as const;

/** What the public document says beside the services' own operations. */
export const DOCUMENT_HEAD: DocumentHead = {
  info: {
    title: 'Recordings and meeting notes',
    version: '1',
    description:
      'Read recordings with their notes, transcripts and comments, and be told when a recording is ready. Every authenticated request carries `Authorization: Bearer <token>`; each credential may make 120 requests a minute. Inside `/v1` changes are additions only; what is to go is announced by the `Deprecation` and `Sunset` headers and here.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  tags: [
    { name: 'Account', description: 'The authenticated user and their teams.' },
    { name: 'API keys', description: 'Personal access tokens; managed with a session of the app only.' },
    { name: 'Bubbles', description: 'Recordings and images: list, search, one, its transcript (also as a file), its comments.' },
    { name: 'Meetings', description: 'Notetakers in live meetings.' },
    { name: 'Webhooks', description: 'Webhook subscriptions and deliveries.' },
    { name: 'Signup', description: 'Sign a user up, step by step, without a browser.' },
    { name: 'OAuth', description: 'OAuth 2.1 for third-party apps.' },
    { name: 'Discovery', description: 'API description and authorization metadata.' },
  ],
  securitySchemes: {
    [SECURITY_SCHEMES.pat]: {
      ...BEARER,
      description: 'A personal access token, `svc_pat_…`. You make one in the app, under Settings, API keys, and paste it here.',
    },
    [SECURITY_SCHEMES.oauth]: {
      type: 'oauth2',
      description: 'Authorization code with PKCE (S256); apps register themselves at `/oauth/register`.',
      flows: {
        authorizationCode: {
          authorizationUrl: '/oauth/authorize',
          tokenUrl: '/oauth/token',
          refreshUrl: '/oauth/token',
          scopes: SCOPES,
        },
      },
    },
    [SECURITY_SCHEMES.session]: { ...BEARER, description: "The app's own signed-in session." },
  },
};
