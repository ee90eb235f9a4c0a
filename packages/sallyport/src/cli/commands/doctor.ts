import { doctor, type Finding } from '@sallyport/engine'
import type { Command } from 'commander'
import { PROXY_LOOKS } from '../settings/looks.ts'
import { type CommonOptions, configReadOf, jsonOption, withCommonOptions } from '../settings/settings.ts'
import { ExitError } from '../terminal/exit.ts'
import { bold, dim, json, type Terminal } from '../terminal/terminal.ts'

/** `sallyport doctor` */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  withCommonOptions(program.command('doctor').description('check what a service depends on, and advise'))
    .addOption(jsonOption())
    .action(async (options: CommonOptions & { readonly json?: true | undefined }) => {
      const findings = await doctor(configReadOf(options, {}, true).config, { more: PROXY_LOOKS })
      const isGood = findings.every(({ state }) => state !== 'fail')
      terminal.out(options.json ? json({ ok: isGood, findings }) : findings.map(lineOf).join('\n'))
      if (!isGood) throw new ExitError(1)
    })
}

function lineOf({ check, state, found, advice }: Finding): string {
  const word = state === 'ok' ? 'ok  ' : bold(state)
  return `${word}  ${check.padEnd(9)}  ${found}${advice === undefined ? '' : `\n${' '.repeat(17)}${dim(advice)}`}`
}
