import { request } from 'node:http'

export const ADMIN = 'the-token-of-an-administrator'
export const READER = 'the-token-of-a-reader'

/** Visitors have addresses of real networks. */
export const VISITOR = {
  home: '73.162.10.20',
  hosting: '5.9.10.20',
  tor: '185.220.101.10',
  googlebot: '66.249.66.1',
} as const

/** The answer to a visitor, by node:http, which sends field values that `fetch` refuses. */
export function readStatus(url: string, path: string, fields: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = Object.entries(fields).map(([name, value]) => [name, Buffer.from(value).toString('latin1')])
    const headers = { ...Object.fromEntries(sent), Accept: 'text/html', 'Accept-Language': 'en' }
    request(`${url}${path}`, { headers, agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}
