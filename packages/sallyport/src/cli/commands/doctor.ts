import { doctor, type Finding } from '@sallyport/engine'
import type { Command } from 'commander'
import { PROXY_LOOKS } from '../settings/looks.ts'
import { type JsonOptions, readConfigLayers, withJsonOptions } from '../settings/settings.ts'
import { parseUrlOption } from '../settings/url.ts'
import { ExitError } from '../terminal/exit.ts'
import { bold, dim, json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly site?: URL | undefined
}

/** `sallyport doctor` */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(program.command('doctor').description('check what a service depends on, and advise'))
    .option('--site <url>', 'address of the site, to check that challenge solutions reach the gate', parseUrlOption)
    .action(async (options: Options) => {
      const { site } = options
      const findings = await doctor(readConfigLayers(options, {}, true).config, { site: site?.href, more: PROXY_LOOKS })
      const isGood = findings.every(({ state }) => state !== 'fail')
      terminal.out(options.json ? json({ ok: isGood, findings }) : findings.map(formatFinding).join('\n'))
      if (!isGood) throw new ExitError(1)
    })
}

function formatFinding({ check, state, found, advice }: Finding): string {
  const word = state === 'ok' ? 'ok  ' : bold(state)
  return `${word}  ${check.padEnd(9)}  ${found}${advice === undefined ? '' : `\n${' '.repeat(17)}${dim(advice)}`}`
}
