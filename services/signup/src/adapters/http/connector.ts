import { SCOPES } from '@bubbles/contracts/access.ts';
import { CONNECTOR_PATH, CONNECTOR_TOOLS } from '@bubbles/contracts/connector.ts';

const HOW_TO_CONNECT = (endpoint: string): string =>
  `Add ${endpoint} as an MCP server (Streamable HTTP) to your assistant. It finds the sign-in by the metadata document, opens it in the browser, and asks the user for consent; no API key is needed.`;
const NOT_INSTALLED =
  'The assistant connector is not installed in this deployment: do not connect to the endpoint. Use the HTTP API with an API key or an OAuth app instead.';

/** How an assistant connects, for the end of signup. `isInstalled`: the deployment has a connector. */
export const presentConnector = ({ publicBaseUrl, isInstalled }: { readonly publicBaseUrl: string; readonly isInstalled: boolean }) => {
  const endpoint = `${publicBaseUrl}${CONNECTOR_PATH}`;
  return {
    endpoint,
    oauth_protected_resource: `${publicBaseUrl}/.well-known/oauth-protected-resource${CONNECTOR_PATH}`,
    scopes: Object.keys(SCOPES),
    how_to_connect: isInstalled ? HOW_TO_CONNECT(endpoint) : NOT_INSTALLED,
    tools: isInstalled ? CONNECTOR_TOOLS : [],
  };
};
