import { InvalidArgumentError } from 'commander'

export function parseUrlOption(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidArgumentError('The value is not an http or https URL.')
  }
  return new URL(text)
}
