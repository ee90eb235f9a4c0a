import { readConfigFrom } from '@sallyport/engine'
import t from 'tap'
import { descriptorNotice } from '../../src/cli/service/announce.ts'

t.test('a start says where connections may need more file descriptors than there are', async (t) => {
  const { config } = readConfigFrom({ env: {} })
  const limits = (count: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${count}                 20000                files\n`
  t.match(
    descriptorNotice(config, limits('1024')),
    /10000 connections .* need 10256 file descriptors, .* may open only 1024\..*LimitNOFILE/,
  )
  for (const text of [limits('20000'), limits('unlimited'), '']) t.equal(descriptorNotice(config, text), undefined)
})
