import { InvalidArgumentError } from 'commander'

/** Creates a parser of an option's text. The parser throws `rule`, a sentence, where `read` returns `undefined`. */
export function createParser<Value>(read: (text: string) => Value | undefined, rule: string): (text: string) => Value {
  return (text) => {
    const value = read(text)
    if (value === undefined) throw new InvalidArgumentError(rule)
    return value
  }
}

export const parseUrlOption = createParser((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}, 'The value is not an http or https URL.')
