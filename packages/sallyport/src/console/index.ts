export { type Door, openDoor, readerFields, signInLink } from './access/door.ts'
export { type ReadTokens, readOrMakeSecret, readTokens } from './access/tokens.ts'
export { type Console, openConsole } from './console.ts'
export {
  FLAG,
  ja4Text,
  listFacts,
  listSignals,
  passText,
  regionText,
  sourceText,
  unjudgedText,
  useText,
} from './explanation/decision-facts.ts'
export { createHistory, type History } from './history/history.ts'
export { crawlerSections } from './report/crawler-sections.ts'
export { percent } from './report/figures.ts'
export type { Section } from './report/section.ts'
export { tallySections } from './report/tally-sections.ts'
export type { ConsoleHooks } from './routes/route.ts'
