import { InvalidArgumentError } from 'commander'

/** The URL of an option, of http or https. */
export function parseUrlOption(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidArgumentError('It is not an http or https URL.')
  }
  return new URL(text)
}
