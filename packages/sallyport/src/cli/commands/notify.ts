import { SallyportError } from '@sallyport/core'
import { createOutbound, EVENT_KINDS, notify } from '@sallyport/engine'
import type { Command } from 'commander'
import { type JsonOptions, readConfig, withJsonOptions } from '../settings/settings.ts'
import { printableValue } from '../terminal/printable.ts'
import { columns, ExitError, json, type Terminal } from '../terminal/terminal.ts'

export function addNotifyCommands(program: Command, terminal: Terminal): void {
  const command = program.command('notify').description('test notifications')

  withJsonOptions(
    command.command('test').description('send a test message to each webhook and show the response'),
  ).action(async (options: JsonOptions) => {
    const config = readConfig(options)
    if (config.notify.length === 0) throw new SallyportError('invalid_config', 'notify: no webhook is configured')
    const tested = await notify.testNotifications(config, { fetch: createOutbound(config).feeds })
    const shown = printableValue(tested).map(({ form, place, on, sent, answer }) => [
      sent ? 'sent' : 'failed',
      form,
      place,
      on.length === EVENT_KINDS.length ? 'all' : on.join(', '),
      answer,
    ])
    terminal.out(options.json ? json(tested) : columns(shown, ['', 'form', 'place', 'events', 'answer']))
    if (tested.some(({ sent }) => !sent)) throw new ExitError(1)
  })
}
