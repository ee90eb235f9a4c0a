import { Buffer as Base } from 'buffer/'

/* The package has everything of Node's Buffer that the verifier uses but base64url. */
const from = Base.from.bind(Base) as (value: unknown, encoding?: string, length?: number) => Base
const toText = Base.prototype.toString

Base.from = ((value: unknown, encoding?: string, length?: number) =>
  encoding === 'base64url'
    ? from(plainBase64(String(value)), 'base64')
    : from(value, encoding, length)) as typeof Base.from

Base.prototype.toString = function (this: Base, encoding?: string, start?: number, end?: number): string {
  if (encoding !== 'base64url') return toText.call(this, encoding as 'base64', start, end)
  return toText.call(this, 'base64', start, end).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function plainBase64(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/')
}

export { Base as Buffer }
