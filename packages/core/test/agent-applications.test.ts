import { AUTOMATION, MONITORS } from '@sallyport/data/automation'
import t from 'tap'
import { compilePolicy } from '../src/policy/compile/compile-policy.ts'
import {
  agentInspector,
  applicationForms,
  CHROME_TEXT,
  electron,
  FIREFOX_TEXT,
  MAC,
  makeRequest,
  plainRequest,
  RACK,
} from './agents.ts'

const { inspect } = agentInspector()
const judge = (userAgent: string) => inspect(plainRequest(userAgent)).agent

t.test('a mail program is no browser, and a browser that adds its name stays one', async (t) => {
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'protect-content', rules: [] }) })
  const from = (userAgent: string) =>
    decide(makeRequest(['Host', 'a.example', 'User-Agent', userAgent], { peer: RACK }))
  const mail = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0'
  t.match(from(mail), { action: 'flag', inspection: { agent: { class: 'human', basis: 'network' } } })
  for (const text of [`${CHROME_TEXT} Thunderbird/1`, `${FIREFOX_TEXT} Thunderbird/1`])
    t.match(from(text), { action: 'challenge' }, text)
})

t.test('an application that is called as a tool is a person’s, on phones and on desks', async (t) => {
  // A program's word is a sign against an application, even in a product's name.
  const isWord = (name: string) => /bot|scrapy|headless|pagespeed|feed|\.com/i.test(name)
  const tools = AUTOMATION.filter(({ inApplications }) => inApplications !== true).map(({ token }) => token)
  const names = [...tools, ...MONITORS, 'Teleport Connect'].filter((name) => !isWord(name))
  t.ok(names.length > 140)
  const accused = names.flatMap(applicationForms).filter((text) => judge(text).class !== 'human')
  t.same(accused, [])
  const inElectron = names.filter((name) => name !== 'Cypress').map((name) => electron(`${name}/2.1`))
  const wrong = inElectron.filter((text) => judge(text).class !== 'human')
  t.same(wrong, [])
})

t.test('the library of an application, or the page of a browser’s maker, is no sign of a program', async (t) => {
  for (const library of ['Dart/3.5 (dart:io)', 'ktor-client', 'Ktor http-client', 'Shop/4.1 WinInet/10.0'])
    t.match(judge(library), { class: 'human' }, library)
  const browsers = [
    `${CHROME_TEXT} (https://shop.example)`,
    `${MAC} Version/18.1 Safari/605.1.15 (Zoo ios@11.1 https://www.zoo.example)`,
  ]
  for (const text of browsers) t.notMatch(judge(text), { basis: 'automation' }, text)
  for (const link of ['(+https://shop.example)', '(https://shop.example/bot)', 'Verity/1 (https://shop.example)'])
    t.match(judge(`${CHROME_TEXT} ${link}`), { class: 'unverified_bot', basis: 'automation' }, link)
})

t.test('a driven browser stays one in every form', async (t) => {
  const driven = AUTOMATION.filter(({ inApplications }) => inApplications === true).map(({ token }) => token)
  t.ok(driven.length >= 8)
  const texts = driven.flatMap((name) => [...applicationForms(name).slice(1), electron(`${name}/1`)])
  for (const text of texts)
    t.match(judge(text), { class: text.includes('Lightpanda') ? 'ai_agent' : 'unverified_bot' }, text)
})
