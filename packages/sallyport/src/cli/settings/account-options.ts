import type { NewAccount } from '@sallyport/engine'
import { isDate } from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'

/** The options of a new account. */
export interface AccountOptions {
  readonly plan?: string | undefined
  readonly signup?: string | undefined
  readonly name?: string | undefined
}

/** Adds the options of a new account to a command. */
export function withAccountOptions(command: Command): Command {
  return command
    .option(
      '--plan <plan>',
      'plan of the new account: free (default), starter, pro, business, enterprise, or one of api.plans',
    )
    .addOption(
      new Option('--signup <day>', 'day that anchors the billing window, YYYY-MM-DD')
        .argParser(parseDay)
        .default(undefined, 'today'),
    )
    .option('--name <name>', 'name of the new account')
}

export function toNewAccount({ plan, signup, name }: AccountOptions): NewAccount {
  return {
    plan,
    signup,
    name,
  }
}

function parseDay(text: string): string {
  if (!isDate(text)) throw new InvalidArgumentError('It is not a day YYYY-MM-DD.')
  return text
}
