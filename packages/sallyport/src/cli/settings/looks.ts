import type { Look } from '@sallyport/engine'
import { examineApi, examineOrigins, examineTls } from '@sallyport/proxy/internal'

/** Checks the parts of a configuration that the proxy opens, for `doctor` and `config check`. */
export const PROXY_LOOKS: readonly Look[] = [
  ['tls', ({ tls }) => examineTls(tls)],
  ['origins', (config) => examineOrigins(config)],
  ['api', (config) => examineApi(config)],
]
