export { readOrMakeSecret, readTokens } from './access/token-file.ts'
export { openConsole } from './console.ts'
export { createHistory, type History } from './history/history.ts'
