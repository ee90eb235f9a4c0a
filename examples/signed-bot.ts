// A bot that signs its requests, after `npx sallyport keys agent create https://bot.example`: node signed-bot.js http://127.0.0.1:3000/
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { signer } from '@sallyport/core/signing'
import { request } from 'undici'

const { KEYS = '.sallyport/agent-keys.json' } = process.env
const [, , url = 'http://127.0.0.1:3000/'] = process.argv
const bot = signer({ key: JSON.parse(readFileSync(KEYS, 'utf8')) })

const response = await fetch(await bot.sign(new Request(url)))
console.log('fetch', response.status)

const { statusCode, body } = await request(url, { headers: bot.signFields({ url }) })
await body.dump()
console.log('undici', statusCode)

get(url, { headers: bot.signFields({ url }) }, (message) => {
  message.resume()
  console.log('node:http', message.statusCode)
})
