import { InvalidArgumentError } from 'commander'

/** Parses the URL of an option, which must be http or https. */
export function parseUrlOption(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidArgumentError('The value is not an http or https URL.')
  }
  return new URL(text)
}
