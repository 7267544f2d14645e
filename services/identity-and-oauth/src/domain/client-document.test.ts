import { describe, expect, it } from '@jest/globals';
import { clientOfDocument } from './client-document.ts';

const AT = new Date('2026-03-01T10:00:00.000Z');
const ID = 'https://app.example.com/client.json';
const document = { client_id: ID, client_name: 'An app', redirect_uris: ['http://127.0.0.1/back'] };
const faultOf = (fields: object, id = ID): string => {
  try {
    clientOfDocument(id, { ...document, ...fields }, AT);
    return 'none';
  } catch (error) {
    return String(error);
  }
};

describe('a client metadata document', () => {
  it('makes a public client by the rules of a registration', () => {
    const fields = {
      ...document,
      client_uri: 'https://app.example.com/',
      scope: 'bubbles:read other',
      jwks_uri: 'https://app.example.com/keys',
    };
    expect(clientOfDocument(ID, fields, AT)).toEqual({
      id: ID,
      name: 'An app',
      redirectUris: ['http://127.0.0.1/back'],
      authMethod: 'none',
      scopes: ['bubbles:read'],
      clientUri: 'https://app.example.com/',
      secretHash: null,
      issuedAt: AT,
    });
    expect(clientOfDocument(ID, { ...document, token_endpoint_auth_method: 'none' }, AT).authMethod).toBe('none');
  });

  it.each(['https://app.example.com/client.json/', 'https://APP.example.com/client.json', ` ${ID}`, null, [ID], undefined])(
    '[case 93] is refused when it names %j as its id',
    (client_id) => expect(faultOf({ client_id })).toContain('client_id: the metadata document must name its own URL'),
  );

  it.each([{ client_secret: 'secret' }, { client_secret: null }, { client_secret_expires_at: 0 }])(
    '[case 93] is refused with a secret: %j',
    (secret) => expect(faultOf(secret)).toContain('may not stand in a metadata document'),
  );

  it.each(['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', '', 1])(
    '[case 93] is refused when it wants to prove itself by %j',
    (token_endpoint_auth_method) => expect(faultOf({ token_endpoint_auth_method })).toContain('must be none'),
  );

  it.each([
    ['a name with an override', { client_name: 'Evil\u202eppa' }, 'client_name'],
    ['a name with a line break', { client_name: 'a\nb' }, 'client_name'],
    ['no redirect URI', { redirect_uris: [] }, 'redirect_uris'],
    ['a redirect URI that runs a script', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    ['no code', { response_types: ['token'] }, 'response_types'],
  ])('[case 49] is refused with %s', (_what, fields, field) => expect(faultOf(fields)).toContain(field));
});
