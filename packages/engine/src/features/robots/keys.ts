import { z } from 'zod'
import { File, HTTP, key, LIVE } from '#settings'

const YES_OR_NO = z.enum(['yes', 'no']).optional()
const UNSAID = 'absent: no where the policy refuses all crawlers of that use'

const Signals = {
  search: key(YES_OR_NO, `Whether content may be in the results of a search; ${UNSAID}`, 'yes'),
  'ai-input': key(YES_OR_NO, `Whether an AI may read content for an answer; ${UNSAID}`, 'no'),
  'ai-train': key(YES_OR_NO, `Whether an AI may be trained on content; ${UNSAID}`, 'no'),
}

const Usage = z.strictObject({
  license: key(
    z.url(HTTP).optional(),
    'Licence of the content, for Link and robots.txt (RSL); absent: none',
    'https://shop.example/license.xml',
  ),
})

const Robots = z.strictObject({
  serve: key(z.boolean().default(false), 'Whether the proxy answers /robots.txt in place of the origin', true),
  file: key(
    File.optional(),
    "The site's own robots.txt, which rules read too; absent: the proxy asks its origins",
    './public/robots.txt',
  ),
  sitemaps: key(z.array(z.url(HTTP)).default([]), 'Sitemaps that robots.txt names', [
    'https://shop.example/sitemap.xml',
  ]),
  signals: z.strictObject(Signals).prefault({}).describe('Content-Signal and Content-Usage'),
})

/** Keys of robots.txt, and of the fields of answers about the use of content. */
export const keys = {
  robots: Robots.prefault({}).meta({ description: 'robots.txt, made from the policy', ...LIVE }),
  usage: Usage.optional().meta({
    description: 'Content-Usage and Link of answers, from the policy and robots.signals; absent: neither is sent',
    ...LIVE,
  }),
}
