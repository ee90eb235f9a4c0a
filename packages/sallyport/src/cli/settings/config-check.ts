import {
  ConfigError,
  type ConfigFault,
  type ConfigRead,
  configNotices,
  examineNamed,
  faultText,
  type Look,
} from '@sallyport/engine'
import { examineApi, examineOrigins, examineTls } from '@sallyport/proxy/internal'
import { printableMessage } from '../terminal/printable.ts'
import { ExitError, type Terminal } from '../terminal/terminal.ts'
import { warningText } from './config-file.ts'
import { type CommonOptions, readConfigLayers } from './settings.ts'

/** Every command exits with this code where its configuration is invalid. */
export const UNUSABLE = 2

export type Checked = Record<'errors' | 'warnings' | 'notices', readonly ConfigFault[]>

/** Checks the parts of a configuration that the proxy opens, for `doctor` and `config check`. */
export const PROXY_LOOKS: readonly Look[] = [
  ['tls', ({ tls }) => examineTls(tls)],
  ['origins', (config) => examineOrigins(config)],
  ['api', (config) => examineApi(config)],
]

/** Finds the faults of the text; where there are none, the faults of the named files. */
export async function checkConfig(options: CommonOptions): Promise<Checked> {
  let read: ConfigRead
  try {
    read = readConfigLayers(options, {}, true)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { errors: error.faults, warnings: [], notices: [] }
  }
  const named = await examineNamed(read, { more: PROXY_LOOKS })
  const warnings = [...read.warnings, ...named.warnings]
  return { errors: named.errors, warnings, notices: configNotices(read.config, read.layers) }
}

/** Prints what `checkConfig` found. Throws the exit code of a configuration that cannot be used. */
export function printChecked({ errors, warnings, notices }: Checked, valid: string, terminal: Terminal): void {
  for (const fault of errors) terminal.err(printableMessage(faultText(fault)))
  for (const fault of warnings) terminal.err(printableMessage(warningText(fault)))
  for (const fault of notices) terminal.err(printableMessage(`notice: ${faultText(fault)}`))
  if (errors.length > 0) throw new ExitError(UNUSABLE)
  terminal.out(valid)
}
