import type { Sallyport } from '@sallyport/engine'
import type { AdminPages } from '@sallyport/proxy'
import {
  type Console,
  type ConsoleHooks,
  type History,
  openConsole,
  openDoor,
  type ReadTokens,
  readTokens,
  signInLink,
} from '#console'
import type { WorkerQuestions } from '../workers/worker-questions.ts'
import { openProof } from './admin-proof.ts'

export const CONSOLE = 'console'

/** Holds what the console controls of the proxy, once the proxy exists. */
export interface Steering {
  url: string | undefined
  adminUrl: string | undefined
  savePolicy: ConsoleHooks['savePolicy']
}

/** Opens the door of the admin listener, and the console where there is one. Without a configuration file no policy can be saved. */
export function openAdminPages(
  sallyport: Sallyport,
  history: History | undefined,
  steering: Steering,
  file: string | undefined,
  others: WorkerQuestions | undefined,
  onFault: (error: unknown) => void,
): ReadTokens & { readonly pages: AdminPages & Partial<Console> } {
  const { dataDir, console } = sallyport.config
  const read = readTokens(dataDir, console)
  const onWrong = (address: string, isNoted: boolean): void => {
    sallyport.meter.add('wrongTokens', [])
    if (isNoted) sallyport.log.audit({ what: 'token', who: address, error: 'unauthorized' })
  }
  const door = openDoor({ tokens: read.tokens, dataDir, onFault, onWrong })
  const savePolicy: ConsoleHooks['savePolicy'] = async (written) => steering.savePolicy?.(written)
  const askOthers = others && ((about: unknown) => others.ask(CONSOLE, about))
  const url = () => steering.url ?? ''
  const hooks = { sallyport, door, onFault, url, askOthers, ...(file !== undefined && { savePolicy }) }
  const opened: AdminPages & Partial<Console> = history ? openConsole({ ...hooks, history }) : door
  const prove = openProof(dataDir, () => steering.adminUrl)
  return {
    ...read,
    pages: { ...opened, handle: (...asked) => prove(...asked) || opened.handle?.(...asked) === true },
  }
}

/** Prints a link to the console that signs in: the line ends in logs, so the link only reads, works once, and expires within an hour. */
export function consoleLine({ tokens, file }: ReadTokens, url: string): string {
  const place = file === undefined ? '' : `. Administrators sign in with the token in ${file}`
  return `Console at ${signInLink(tokens, url)} (signs in once, within the hour)${place}`
}
