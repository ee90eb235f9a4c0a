import t from 'tap'
import { createChooser } from '../src/answer/languages.ts'

const chosen = (accepted: string, languages: string): string =>
  createChooser(['Accept-Language', accepted])(languages.split(' '))

t.test('a text is chosen by language, script and region, as they are most likely meant', async (t) => {
  for (const [accepted, languages, language] of [
    ['zh-CN,zh;q=0.9,en;q=0.8', 'en zh-TW zh-CN', 'zh-CN'],
    ['zh-HK,zh-Hant;q=0.9', 'en zh-TW', 'zh-TW'],
    ['zh-TW', 'en zh-CN zh-HK', 'zh-HK'],
    ['zh-MO', 'en zh-TW zh-HK', 'zh-TW'],
    ['yue, en;q=0.5', 'en zh-Hans zh-Hant', 'zh-Hant'],
    ['zh-min-nan', 'en zh', 'zh'],
    ['sr', 'en sr-Latn sr-Cyrl', 'sr-Cyrl'],
    ['sr-ME', 'en sr-Cyrl sr-Latn', 'sr-Latn'],
    ['sh', 'en sr-Latn', 'sr-Latn'],
    ['no', 'en nb', 'nb'],
    ['nn-NO', 'en nb', 'nb'],
    ['pt-PT', 'en pt-BR', 'pt-BR'],
    ['en-GB', 'de en-US', 'en-US'],
    ['en-GB', 'de en-US en', 'en'],
    ['es-419', 'en es-MX', 'es-MX'],
    ['iw', 'en he', 'he'],
    ['fr;q=0.3, de-AT;q=0.5', 'en fr de', 'de'],
    ['xx, *;q=0.1, en;q=0', 'en fr de', 'fr'],
    ['tlh-Piqd, fr;q=0.5', 'en fr', 'fr'],
    ['e, -, de-, 1234, \ud800', 'en de', 'de'],
    ['fr', 'constructor zh_TW fr', 'fr'],
  ] as const)
    t.equal(chosen(accepted, languages), language, `${accepted} of ${languages}`)
})

t.test('so many ranges of such a length are read', async (t) => {
  const others = (count: number) => Array.from({ length: count }, (_, at) => `x${at}`).join(',')
  t.equal(chosen(`${others(11)},fr`, 'en fr'), 'fr')
  t.equal(chosen(`${others(12)},fr`, 'en fr'), 'en')
  t.equal(createChooser(['accept-language', others(11), 'Accept-Language', 'fr,de'])(['en', 'de', 'fr']), 'fr')
  t.equal(createChooser(['accept-language', others(7), 'Accept-Language', `${others(7)},fr`])(['en', 'fr']), 'en')
  t.equal(chosen(`${'a-'.repeat(32)}b,fr`, 'en fr'), 'fr')
  t.equal(chosen(`fr-${'x'.repeat(60)}`, 'en fr'), 'en')
})
