import type { NewAccount } from '@sallyport/engine'
import { isDate } from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'

/** The options that a new account takes. */
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
      'plan of the new account: free (default), starter, pro, business, enterprise, or a plan in api.plans',
    )
    .addOption(
      new Option('--signup <day>', 'first day of the billing period, YYYY-MM-DD')
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
  if (!isDate(text)) throw new InvalidArgumentError('The value must be a day, YYYY-MM-DD.')
  return text
}
