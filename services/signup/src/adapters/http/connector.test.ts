import { SCOPES } from '@bubbles/contracts/access.ts';
import { describe, expect, it } from '@jest/globals';
import { presentConnector } from './connector.ts';

const PLACE = { publicBaseUrl: 'https://notes.example.com' };

describe('how an assistant connects', () => {
  it('[SIGN-08] names the server, its metadata and scopes, and what it offers', () => {
    const { tools, how_to_connect, ...rest } = presentConnector({ ...PLACE, isInstalled: true });
    expect(rest).toEqual({
      endpoint: 'https://notes.example.com/mcp',
      oauth_protected_resource: 'https://notes.example.com/.well-known/oauth-protected-resource/mcp',
      scopes: Object.keys(SCOPES),
    });
    expect(how_to_connect).toContain('https://notes.example.com/mcp');
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(tools).toContainEqual(expect.objectContaining({ name: 'join_meeting', kind: 'write' }));
    for (const tool of tools) expect(Object.keys(tool).sort()).toEqual(['kind', 'name', 'summary', 'title']);
  });

  it('[SIGN-08] offers nothing where no connector is installed, and says so', () => {
    const { tools, how_to_connect } = presentConnector({ ...PLACE, isInstalled: false });
    expect(tools).toEqual([]);
    expect(how_to_connect).toContain('not installed');
  });
});
