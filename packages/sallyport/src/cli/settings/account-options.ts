import { isDate } from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'

export function withAccountOptions(command: Command): Command {
  return command
    .option(
      '--plan <plan>',
      'plan of the new account: free (default), starter, pro, business, enterprise, or a plan in api.plans',
    )
    .addOption(
      new Option('--signup <day>', 'first day of the billing period, YYYY-MM-DD')
        .argParser(parseDay)
        .default(undefined, 'today'),
    )
    .option('--name <name>', 'name of the new account')
}

function parseDay(text: string): string {
  if (!isDate(text)) throw new InvalidArgumentError('The value must be a day, YYYY-MM-DD.')
  return text
}
