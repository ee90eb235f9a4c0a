import { doctor, type Finding, type Look } from '@sallyport/engine'
import type { Command } from 'commander'
import { type FoundGate, findGate } from '../service/gate.ts'
import { PROXY_LOOKS } from '../settings/config-check.ts'
import { parseUrlOption } from '../settings/option-parser.ts'
import { type JsonOptions, readConfigLayers, withJsonOptions } from '../settings/settings.ts'
import { bold, dim, ExitError, json, type Terminal } from '../terminal/terminal.ts'

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(program.command('doctor').description('check everything that the service depends on'))
    .option('--site <url>', 'site URL, to check that challenge solutions reach the gate', parseUrlOption)
    .action(async ({ site, ...options }: JsonOptions & { readonly site?: URL | undefined }) => {
      const { config } = readConfigLayers(options, {}, true)
      const gate = await findGate(config)
      // A flag may have named the address of the running gate.
      const running = 'url' in gate && gate.isProven ? { ...config, admin: gate.url.slice('http://'.length) } : config
      const more = [...PROXY_LOOKS, lookAtNote(gate)]
      const findings = await doctor(running, { site: site?.href, more })
      const isGood = findings.every(({ state }) => state !== 'fail')
      terminal.out(options.json ? json({ ok: isGood, findings }) : findings.map(formatFinding).join('\n'))
      if (!isGood) throw new ExitError(1)
    })
}

/** Warns where a gate left its note and cannot be found. */
function lookAtNote(gate: FoundGate): Look {
  const isLost = 'reason' in gate && gate.isNoted
  const advice = 'Restart the gate. It was killed, or another program uses its address.'
  return ['listeners', async () => (isLost ? [{ state: 'warn', found: `admin: ${gate.reason}.`, advice }] : [])]
}

function formatFinding({ check, state, found, advice }: Finding): string {
  const word = state === 'ok' ? 'ok  ' : bold(state)
  return `${word}  ${check.padEnd(9)}  ${found}${advice === undefined ? '' : `\n${' '.repeat(17)}${dim(advice)}`}`
}
