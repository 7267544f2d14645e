/** Where the assistant connector speaks MCP, below the public base URL. */
export const CONNECTOR_PATH = '/mcp';

interface ConnectorTool {
  readonly name: string;
  readonly title: string;
  /** `write` ones change something, and an assistant asks its user first. */
  readonly kind: 'read' | 'write';
  readonly summary: string;
}

/** What the assistant connector offers: it serves from this list, and the end of signup shows it. */
export const CONNECTOR_TOOLS: readonly ConnectorTool[] = [
  {
    name: 'list_bubbles',
    title: 'List recordings and notes',
    kind: 'read',
    summary: 'Lists the recordings, screen recordings and images that you can read, newest first, with filters.',
  },
  {
    name: 'search_bubbles',
    title: 'Search recordings and notes',
    kind: 'read',
    summary: 'Finds recordings by what their titles, notes, transcripts and people say.',
  },
  {
    name: 'get_bubble',
    title: 'Read one recording',
    kind: 'read',
    summary: 'Reads one recording with its summary, action items and people.',
  },
  { name: 'get_transcript', title: 'Read a transcript', kind: 'read', summary: 'Reads who said what, and when, in one recording.' },
  { name: 'list_comments', title: 'Read comments', kind: 'read', summary: 'Reads the comments on one recording.' },
  {
    name: 'join_meeting',
    title: 'Send the notetaker into a meeting',
    kind: 'write',
    summary: 'Sends the notetaker into a running meeting by its link; it records the meeting for one of your workspaces.',
  },
  {
    name: 'get_meeting_join',
    title: 'See where the notetaker is',
    kind: 'read',
    summary: 'Tells whether the notetaker waits, records, or has ended, and why.',
  },
];
