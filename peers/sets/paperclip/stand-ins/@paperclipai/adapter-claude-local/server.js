// Stands in for the package of that name, of which the worker manager takes this alone.
export const CLAUDE_SETUP_TOKEN_COMMAND = 'claude setup-token'
