/* Reads a job a line, requests its pages with the client that the first argument names, and writes a line for each job. */
import { createInterface } from 'node:readline'

/** A function that gets one URL with some headers, for each client as its documentation shows it. */
const CLIENTS = {
  async fetch() {
    return async (url, headers) => (await fetch(url, { headers })).text()
  },
  async undici() {
    const { request } = await import('undici')
    return async (url, headers) => (await request(url, { headers })).body.text()
  },
  async 'node-fetch'() {
    const { default: get } = await import('node-fetch')
    return async (url, headers) => (await get(url, { headers })).text()
  },
  async axios() {
    const { default: axios } = await import('axios')
    return (url, headers) => axios.get(url, { headers, validateStatus: () => true })
  },
  async got() {
    const { got } = await import('got')
    return (url, headers) => got(url, { headers, throwHttpErrors: false, retry: { limit: 0 } })
  },
  async needle() {
    const { default: needle } = await import('needle')
    return (url, headers) => needle('get', url, { headers })
  },
  async 'got-scraping'() {
    const { gotScraping } = await import('got-scraping')
    return (url, headers) => gotScraping(url, { headers, throwHttpErrors: false, retry: { limit: 0 } })
  },
  async impit() {
    const { Impit } = await import('impit')
    const impit = new Impit({ browser: 'chrome', ignoreTlsErrors: true })
    return async (url, headers) => (await impit.fetch(url, { headers })).text()
  },
}

const get = await CLIENTS[process.argv[2]]()
for await (const line of createInterface({ input: process.stdin })) {
  const { base, count, headers } = JSON.parse(line)
  let said = 'done'
  try {
    for (let number = 1; number <= count; number++) await get(`${base}/page/${number}`, Object.fromEntries(headers))
  } catch (error) {
    said = String(error.cause ?? error).replaceAll('\n', ' ')
  }
  process.stdout.write(`${said}\n`)
}
process.exit()
